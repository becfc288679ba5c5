"""An agent: sessions with each server of its configuration, which it uses all the time, and jobs beside them.

    agent.py CONFIG [--sessions N] [--jobs N] [--stdin] [--control PORT] [--leak superseded|job|closed|stop]

There is one session with each server, or N. At its start it runs N jobs side by side, each with servers of its own. With --control it serves REST instead:

    POST   /servers              {"name": ..., "command": ..., "args": [...]}
    POST   /servers/NAME/call    {"tool": ..., "args": {...}}
    DELETE /servers/NAME

and the same as JSON-RPC: POST /rpc, with the methods servers/add, servers/call and servers/remove.
"""

import argparse
import json
import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mcp_stdio import connect, read_config

parser = argparse.ArgumentParser()
parser.add_argument("config", nargs="?")
parser.add_argument("--sessions", type=int, default=1)
parser.add_argument("--jobs", type=int, default=0)
parser.add_argument("--stdin", action="store_true", help="ends with its stdin")
parser.add_argument("--control", type=int, default=0)
parser.add_argument("--leak", default="", help="superseded, job, closed or stop")
options = parser.parse_args()

stopping = threading.Event()
connecting = threading.Lock()
servers = {}  # of its own sessions and of those that are added by REST, by name


def keep(name, entry):
    """Uses a server all the time, and connects anew where it has ended."""
    while not stopping.is_set():
        with connecting:
            if stopping.is_set():
                return
            try:
                if name not in servers:
                    servers[name] = connect(entry)
            except Exception as error:
                print(f"{name}: {error}", file=sys.stderr)
        try:
            while not stopping.wait(0.1):
                servers[name].call("echo", {"text": "still there?"})
        except Exception as error:
            print(f"{name} is lost: {error}", file=sys.stderr)
            lost = servers.pop(name, None)
            if lost and options.leak != "superseded":
                lost.close()
        stopping.wait(0.1)


def job(config):
    """Does something with servers of its own."""
    own = []
    try:
        for entry in config.values():
            own.append(connect(entry))
        for server in own:
            server.call("sleep", {"ms": 200})
    except Exception as error:
        print(f"a job has failed: {error}", file=sys.stderr)
    if options.leak == "job":
        leaked.extend(own)
        return
    for server in own:
        server.close()


leaked = []


class Control(BaseHTTPRequestHandler):
    """Adds, calls and removes servers."""

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(200, sorted(servers))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        try:
            if self.path == "/rpc":
                self.answer(200, rpc(body))
            elif self.path == "/servers":
                self.answer(201, add(body))
            else:
                self.answer(200, call({"name": self.path.split("/")[2], **body}))
        except Exception as error:
            self.answer(502, {"error": str(error)})

    def do_DELETE(self):
        self.answer(200, remove({"name": self.path.split("/")[2]}))


def add(wanted):
    old = servers.pop(wanted["name"], None)
    if old and options.leak != "superseded":
        old.close()
    servers[wanted["name"]] = connect(wanted)
    return {"name": wanted["name"]}


def call(wanted):
    return {"text": servers[wanted["name"]].call(wanted["tool"], wanted["args"], wanted.get("timeout", 60))}


def remove(wanted):
    server = servers.pop(wanted["name"], None)
    if server and options.leak != "closed":
        server.close()
    elif server:
        leaked.append(server)
    return {}


def rpc(request):
    methods = {"servers/add": add, "servers/call": call, "servers/remove": remove}
    try:
        return {"jsonrpc": "2.0", "id": request["id"], "result": methods[request["method"]](request["params"])}
    except Exception as error:
        return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": str(error)}}


def stop(*_):
    """Ends everything, side by side."""
    if options.leak == "stop":
        os._exit(0)
    stopping.set()
    with connecting:
        threads = [threading.Thread(target=server.close) for server in servers.values()]
    for thread in threads:
        thread.start()
    for thread in threads + jobs:
        thread.join()
    os._exit(0)


# A signal may reach any thread, and Python's handlers run in the main thread alone, which would go on waiting: the pipe wakes it.
asked, ask = os.pipe()
os.set_blocking(ask, False)
signal.set_wakeup_fd(ask)
jobs = []
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *_: None)
if options.control:
    web = ThreadingHTTPServer(("127.0.0.1", options.control), Control)
    threading.Thread(target=web.serve_forever, daemon=True).start()
else:
    config = read_config(options.config)
    jobs = [threading.Thread(target=job, args=(config,)) for _ in range(options.jobs)]
    for name, entry in config.items():
        for number in range(options.sessions):
            threading.Thread(target=keep, args=(f"{name} {number}", entry), daemon=True).start()
    for thread in jobs:
        thread.start()
    print("ready", flush=True)
if options.stdin:
    sys.stdin.read()
else:
    os.read(asked, 1)
stop()
