"""A gateway as small as it gets: keeps one MCP server connected, and ends it when it is asked to end."""
import json, signal, subprocess, sys, time

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "gateway", "version": "1"}}
stopping = []


def connect():
    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    try:
        ask(server, 1, "initialize", HELLO)
        send(server, {"method": "notifications/initialized"})
    except Exception:
        close(server)
        raise
    return server


def send(server, message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def ask(server, number, method, params):
    send(server, {"id": number, "method": method, "params": params})
    while (answer := json.loads(server.stdout.readline())).get("id") != number:
        pass
    return answer["result"]


def close(server):
    """The end of stdin, then SIGTERM, then SIGKILL, and wait: without it, a server is left."""
    try:
        server.stdin.close()
    except BrokenPipeError:
        pass
    for end in server.terminate, server.kill:
        try:
            server.wait(2)
            return
        except subprocess.TimeoutExpired:
            end()
    server.wait()


signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
server, number = None, 1
while not stopping:
    time.sleep(0.05)
    try:
        number += 1
        server = server or connect()
        ask(server, number, "tools/list", {})
    except Exception:  # it broke: end what is left of it, and connect anew
        if server:
            close(server)
        server = None
if server:
    close(server)
