"""A small MCP server with planted faults, for the tests of `leakbench server`: python3 planted.py [FAULT ...]"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

faults = set(sys.argv[1:])


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def stay():
    while True:
        time.sleep(60)


def leak():
    kept = []
    while True:
        time.sleep(0.2)
        if "idle-descriptors" in faults:
            kept.append(open(os.devnull))
        if "idle-processes" in faults:
            kept.append(subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        if "idle-memory" in faults:
            kept.append(b"x" * 500_000)


def answer(request):
    method = request.get("method")
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "planted", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "sleep", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        seconds = request["params"]["arguments"].get("seconds", 0)
        if "deaf-call" in faults:
            stay()
        time.sleep(seconds)
        return {"content": []}
    return {}


def serve():
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        if "noise" in faults:
            print("a log line")
        try:
            say({"id": request["id"], "result": answer(request)})
        except BrokenPipeError:
            if "deaf-pipe" in faults:
                stay()
            if "late-pipe" in faults:
                time.sleep(3)
            os._exit(1)


if "late-start" in faults:
    time.sleep(2)
if "deaf-term" in faults:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "slow-end" in faults:
    signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), os._exit(0)))
if "helper" in faults:
    subprocess.Popen(["sleep", "600"])
if "detached" in faults:
    subprocess.Popen(["sleep", "600"], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
if "late-helper" in faults:
    subprocess.Popen(["sleep", "4"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
if "unreaped" in faults:
    kept = subprocess.Popen(["true"])
if faults & {"idle-descriptors", "idle-processes", "idle-memory"}:
    threading.Thread(target=leak, daemon=True).start()
serve()
if "deaf-eof" in faults:
    stay()
if "slow-end" in faults:
    time.sleep(1)
