#!/usr/bin/env python3
"""Hermes agent on the bench: docs/use/driver-protocol.md over tools.mcp_tool of the published package, unchanged.

Hermes has no sessions of the bench's kind. Its MCP servers are entries of `mcp_servers` in config.yaml: they belong to
the process, and whatever conversation or job is under way shares them. So a session is an entry here, and each request
does what the product does at that place (docs/evidence/hermes.md says where in its source):

  open    the entry is written, discover_mcp_tools() runs in a thread of its own, as at the start of an agent or a job;
          on an entry that is connected, its task is asked to reconnect, as the dashboard and the tool handlers do
  call    the registered tool handler; a time limit and a cancel are the agent's interrupt of that thread
  close   the entry is taken out and its MCPServerTask.shutdown() awaited on the MCP loop, as after a probe and, for all
          tasks, in shutdown_mcp_servers(); then the sweep for orphans, which in the field waits for the next cron tick
  reload  the entries are rewritten, then /reload-mcp: shutdown_mcp_servers(), discover_mcp_tools()
  tick    all entries are written, then each job in a thread: discover_mcp_tools(), call, close; at the end the sweep. A probe
          is _probe_single_server in a thread, as "Test server" of the dashboard and `hermes mcp test` run it: nothing discovers
  stop    shutdown_mcp_servers(), like SIGTERM in the gateway
"""
import argparse
import asyncio
import collections
import contextlib
import importlib.metadata
import inspect
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import time

SCALED_TIMEOUT = 10.0  # seconds; `timeout` and `connect_timeout` of an entry, where the bench asks for no other
RECONNECT_WAIT = 15.0  # seconds; what the tool handlers allow (_signal_reconnect_and_wait)
OPEN_PATIENCE = 5.0  # seconds after a connect's own time limit: who waits for it interrupts the agent then

NOT_APPLICABLE = {
    "forget": "servers belong to the process and are shared by its conversations: nothing of its MCP layer is told when one vanishes",
}


class Caller:
    """A request's thread, for as long as hermes may interrupt it."""

    def __init__(self):
        self.thread, self.lock, self.active = threading.get_ident(), threading.Lock(), True

    def interrupt(self):
        with self.lock:  # a thread's ident is used again after its end
            if self.active:
                hermes.set_interrupt(True, self.thread)

    def done(self):
        with self.lock:
            self.active = False
            hermes.set_interrupt(False, self.thread)


class Hermes:
    """What the driver uses of the package."""

    def __init__(self, home):
        self.temporary = not home
        self.home = home or tempfile.mkdtemp(prefix="leakbench-hermes-")
        os.makedirs(self.home, mode=0o700, exist_ok=True)
        os.environ["HERMES_HOME"] = self.home  # read when the package is imported
        from tools import interrupt, mcp_tool, registry

        self.mcp, self.registry, self.set_interrupt = mcp_tool, registry.registry, interrupt.set_interrupt
        self.is_interrupted = interrupt.is_interrupted
        self.config = os.path.join(self.home, "config.yaml")
        self.entries, self.lock, self.written = {}, threading.Lock(), 0
        self.opening = collections.Counter()  # how many opens of an entry are under way
        self.write()

    def write(self):
        """Writes config.yaml, whose reader takes a file with the same time and size for the one it has read."""
        with open(self.config + ".new", "w", encoding="utf-8") as file:
            json.dump({"mcp_servers": self.entries}, file)  # JSON is YAML
        self.written = max(time.time_ns(), self.written + 1_000_000)
        os.utime(self.config + ".new", ns=(self.written, self.written))
        os.replace(self.config + ".new", self.config)

    def configure(self, servers, timeout=None, connect_timeout=None):
        """Adds or replaces entries: session name -> server."""
        with self.lock:
            for name, server in servers.items():
                self.entries[name] = {
                    "command": server["command"],
                    "args": server.get("args", []),
                    "timeout": timeout or SCALED_TIMEOUT,
                    "connect_timeout": connect_timeout or SCALED_TIMEOUT,
                }
            self.write()

    def remove(self, name):
        with self.lock:
            if self.entries.pop(name, None) is not None:
                self.write()

    def task(self, name):
        with self.mcp._lock:
            return self.mcp._servers.get(name)

    def connected(self, name):
        return any(s["name"] == name and s["connected"] for s in self.mcp.get_mcp_status())

    def discover(self, name):
        self.mcp.discover_mcp_tools()
        if not self.connected(name):
            reason = getattr(self.mcp, "_server_connect_errors", {}).get(name, "see the host's log")
            raise RuntimeError(f"hermes did not connect: {reason}")

    def reconnect(self, name, task, limit):
        """Asks a task for a new transport and waits for it, as the tool handlers do after an expired session."""
        old = task.session
        if task._task is not None and task._task.done():
            raise RuntimeError("hermes has given this server up: its task has ended and its entry stays")
        if hasattr(self.mcp, "reconnect_mcp_server"):
            self.mcp.reconnect_mcp_server(name)
        elif hasattr(self.mcp, "_signal_reconnect"):
            self.mcp._signal_reconnect(task)
        else:  # as _handle_session_expired_and_retry of that version
            self.mcp._mcp_loop.call_soon_threadsafe(task._reconnect_event.set)
        until = time.monotonic() + (limit or RECONNECT_WAIT)
        while task.session is None or task.session is old or not task._ready.is_set():
            if self.is_interrupted():
                raise InterruptedError("interrupted")
            if time.monotonic() > until:
                raise TimeoutError("no new connection in time; hermes goes on trying")
            time.sleep(0.02)

    def call(self, name, tool, args):
        prefixed = getattr(self.mcp, "mcp_prefixed_tool_name", None)
        clean = self.mcp.sanitize_mcp_name_component
        answer = self.registry.dispatch(prefixed(name, tool) if prefixed else f"mcp_{clean(name)}_{clean(tool)}", args)
        answer = json.loads(answer) if isinstance(answer, str) else answer
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        result = answer.get("result", "")
        return result if isinstance(result, str) else json.dumps(result)

    def close(self, name):
        self.remove(name)
        task = self.task(name)
        if task is None:
            raise RuntimeError("hermes has no such server")
        try:
            asyncio.run_coroutine_threadsafe(task.shutdown(), self.mcp._mcp_loop).result(timeout=15)
        finally:
            with self.mcp._lock:
                if self.mcp._servers.get(name) is task:
                    del self.mcp._servers[name]
            self.mcp._kill_orphaned_mcp_children()

    def probe(self, name):
        """What the dashboard's "Test server" does: connect, list, shut down, beside whatever is connected."""
        from hermes_cli import mcp_config

        look = mcp_config._probe_single_server
        with self.lock:
            entry = dict(self.entries[name])
        if "details" in inspect.signature(look).parameters:
            look(name, entry, details={})
        else:
            look(name, entry)

    def reload(self):
        self.mcp.shutdown_mcp_servers()
        self.mcp.discover_mcp_tools()


class Driver:
    def __init__(self, out):
        self.out, self.out_lock = out, threading.Lock()
        self.callers, self.callers_lock = {}, threading.Lock()  # by request id, and by the session of a job

    def send(self, message):
        line = json.dumps(message) + "\n"
        with self.out_lock:
            self.out.write(line)
            self.out.flush()

    @contextlib.contextmanager
    def interruptible(self, key, timeout_ms=0):
        caller, timer = Caller(), None
        with self.callers_lock:
            self.callers[key] = caller
        if timeout_ms:
            timer = threading.Timer(timeout_ms / 1000, caller.interrupt)
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer:
                timer.cancel()
            with self.callers_lock:
                self.callers.pop(key, None)
            caller.done()

    def open(self, r):
        name, limit = r["session"], r.get("timeout_ms", 0) / 1000
        with self.interruptible(r["id"], (limit + OPEN_PATIENCE) * 1000 if limit else 0):
            task = hermes.task(name)
            if task is not None:
                return hermes.reconnect(name, task, limit)
            with hermes.lock:
                hermes.opening[name] += 1
            failed = None
            try:
                hermes.configure({name: r["server"]}, connect_timeout=limit)
                hermes.discover(name)
            except BaseException as e:
                failed = e
            with hermes.lock:
                hermes.opening[name] -= 1
                last = hermes.opening[name] == 0
            if failed is None or hermes.connected(name):
                return None  # where it failed, another discovery, or a reload, has connected it meanwhile
            if last:  # the entry is not that of another open, too
                hermes.remove(name)  # or each later discovery tries it again, for a session that is not open
            raise failed

    def call(self, r):
        with self.interruptible(r["id"], r.get("timeout_ms", 0)):
            return {"result": hermes.call(r["session"], r["tool"], r.get("args", {}))}

    def cancel(self, r):
        with self.callers_lock:
            caller = self.callers.get(r.get("target") or r.get("session"))
        if caller is None:
            raise RuntimeError("nothing is running there")
        caller.interrupt()

    def close(self, r):
        hermes.close(r["session"])

    def reload(self, r):
        hermes.configure({s["session"]: s["server"] for s in r["sessions"]})
        hermes.reload()
        lost = [s["session"] for s in r["sessions"] if not hermes.connected(s["session"])]
        if lost:
            raise RuntimeError(f"not connected after the reload: {', '.join(lost)}")

    def tick(self, r):
        for job in r["jobs"]:
            hermes.configure({job["session"]: job["server"]}, timeout=job.get("timeout_ms", 0) / 1000)
        results = [{"session": job["session"]} for job in r["jobs"]]
        threads = [threading.Thread(target=self.job, args=(job, result)) for job, result in zip(r["jobs"], results)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        hermes.mcp._kill_orphaned_mcp_children()
        return {"jobs": results}

    def job(self, job, result):
        name = job["session"]
        try:
            with self.interruptible(name):
                if job.get("probe"):
                    hermes.probe(name)
                else:
                    hermes.discover(name)
                    hermes.call(name, job["tool"], job.get("args", {}))
            result["ok"] = True
        except Exception as e:  # a job that fails does not fail the tick
            result["error"] = str(e) or repr(e)
        if job.get("probe") and hermes.task(name) is None:
            return hermes.remove(name)  # a probe has no connection of its own that could be closed
        try:
            hermes.close(name)
        except Exception as e:
            logging.warning("job %s: close: %s", name, e)

    def serve(self, r):
        try:
            answer = {"ok": True, **(getattr(self, r["op"])(r) or {})}
        except Exception as e:
            answer = {"error": str(e) or repr(e)}
        self.send({"id": r["id"], **answer})

    def run(self):
        for line in sys.stdin:
            r = json.loads(line)
            if r["op"] == "stop":
                end(lambda: self.send({"id": r["id"], "ok": True}))
            threading.Thread(target=self.serve, args=(r,), daemon=True).start()


def end(then=lambda: None):
    """The end of the gateway: no exit handler runs after it, and no thread is waited for."""
    try:
        hermes.mcp.shutdown_mcp_servers()
    finally:
        then()
        leave(0)


def wait_for_sigterm():
    """Ends the gateway at SIGTERM, whichever thread it reaches: Python's handlers run in the main thread alone, which reads stdin."""
    asked, ask = os.pipe()
    os.set_blocking(ask, False)
    signal.set_wakeup_fd(ask)
    signal.signal(signal.SIGTERM, lambda *_: None)
    threading.Thread(target=lambda: os.read(asked, 1) and end(), daemon=True).start()


def leave(code):
    if hermes.temporary:
        shutil.rmtree(hermes.home, ignore_errors=True)
    sys.stderr.flush()
    os._exit(code)


def profile(watchdog):
    ladder = "stdin close, 2s, TERM to the group, 2s, KILL to the group (mcp SDK)"
    if watchdog:
        ladder += "; the watchdog before each server: TERM, 3s, KILL on SIGTERM, or when hermes is gone, which it looks for each 2s"
    return {
        "settle": "6s" if watchdog else "5s",
        "confirm": f"{SCALED_TIMEOUT:g}s",
        "stop": "24s",  # shutdown_mcp_servers: 15 s for the tasks, 5 s for the loop's thread, 2 s in the sweep
        "ladder": ladder,
        "scale": f"timeout (120 s or 300 s) and connect_timeout (60 s) are {SCALED_TIMEOUT:g} s, by the entry's own keys; "
        "the sweep for orphans, at the next cron tick in the field, comes at once",
    }


def main():
    global hermes
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", help="HERMES_HOME of the run; default: a temporary folder")
    options = parser.parse_args()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # not inheritable; whatever else prints goes to the log
    os.dup2(2, 1)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(relativeCreated)d %(threadName)s %(name)s: %(message)s")
    hermes = Hermes(options.home)
    wait_for_sigterm()
    driver = Driver(out)
    driver.send({"hello": {
        "protocol": 1, "host": "hermes-agent", "version": importlib.metadata.version("hermes-agent"),
        "ops": "open call cancel close reload tick stop".split(), "not_applicable": NOT_APPLICABLE,
        "kind": "application", "profile": profile(hasattr(hermes.mcp, "_wrap_command_with_watchdog")),
    }})
    driver.run()
    leave(1)  # stdin has ended: the bench is gone


if __name__ == "__main__":
    main()
