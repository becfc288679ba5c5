#!/usr/bin/env python3
"""A driver for a host that is a process of its own and controlled by REST: docs/use/driver-protocol.md. HOST is its command line,
a JSON list; its last argument is the port that it listens on. The driver passes SIGTERM on, and the host dies with its driver."""
import concurrent.futures, ctypes, json, os, signal, socket, subprocess, sys, threading, time, urllib.request

with socket.create_server(("127.0.0.1", 0)) as free:
    port = str(free.getsockname()[1])
parent = os.getpid()
def die_with_driver():  # in the child, before it runs the host: SIGKILL of the driver reaches it too (Linux: PR_SET_PDEATHSIG is 1)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
host = subprocess.Popen([*json.loads(os.environ["HOST"]), port], stdin=subprocess.DEVNULL, stdout=sys.stderr, preexec_fn=die_with_driver)
def end():  # SIGTERM is the host's, and its exit status is the driver's
    os.read(asked, 1)
    host.terminate()
    os._exit(os.waitstatus_to_exitcode(os.waitpid(host.pid, 0)[1]) & 0xFF)
# a signal may reach any thread, and Python's handlers run in the main thread alone, which may be reading: the pipe is for all
asked, ask = os.pipe()
os.set_blocking(ask, False)
signal.set_wakeup_fd(ask)
signal.signal(signal.SIGTERM, lambda *_: None)
threading.Thread(target=end, daemon=True).start()
def rest(method, path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode() if body else None, method=method)
    return json.load(urllib.request.urlopen(request, timeout=30))
def perform(r):
    if r["op"] == "open":
        rest("POST", "/servers", {"name": r["session"], "command": r["server"]["command"], "args": r["server"]["args"]})
    if r["op"] == "call":
        return {"result": rest("POST", f"/servers/{r['session']}/call", {"tool": r["tool"], "args": r.get("args", {})})["text"]}
    if r["op"] == "close":
        rest("DELETE", f"/servers/{r['session']}")
    return {}
def serve(r):
    try:
        answer = {"ok": True, **perform(r)}
    except Exception as e:
        answer = {"error": repr(e)}
    print(json.dumps({"id": r["id"], **answer}), flush=True)
while True:  # until it listens
    try:
        rest("GET", "/servers")
        break
    except OSError:
        host.poll() is None or sys.exit("the host has ended")
        time.sleep(0.05)
print(json.dumps({"hello": {"protocol": 1, "host": "remote", "ops": ["open", "call", "close", "stop"]}}), flush=True)
pool = concurrent.futures.ThreadPoolExecutor(64)
for line in sys.stdin:
    r = json.loads(line)
    if r["op"] == "stop":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is ending
        host.terminate()
        host.wait()
        print(json.dumps({"id": r["id"], "ok": True}), flush=True)
        os._exit(0)
    pool.submit(serve, r)
host.kill()  # the bench is gone
os._exit(1)
