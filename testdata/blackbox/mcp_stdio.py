"""A small MCP client over stdio: what agent.py and command.py have in common."""

import json
import os
import signal
import subprocess
import threading


class Server:
    """A server in a session of its own, with one reader thread."""

    def __init__(self, command, args):
        self.process = subprocess.Popen(
            [command, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.lock = threading.Lock()
        self.next = 0
        self.waiting = {}
        self.broken = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            with self.lock:
                waiting = self.waiting.pop(message.get("id"), None)
            if waiting:
                waiting.append(message)
                waiting[0].set()
        with self.lock:
            self.broken = True
            for waiting in self.waiting.values():
                waiting[0].set()

    def _write(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params, timeout=20):
        """Asks, and returns the result."""
        waiting = [threading.Event()]
        with self.lock:
            if self.broken:
                raise ConnectionError("the server has ended")
            self.next += 1
            number = self.next
            self.waiting[number] = waiting
        self._write({"id": number, "method": method, "params": params})
        answered = waiting[0].wait(timeout)
        if len(waiting) < 2:
            raise TimeoutError(method) if not answered else ConnectionError("the server has ended")
        if "error" in waiting[1]:
            raise RuntimeError(waiting[1]["error"].get("message"))
        return waiting[1]["result"]

    def connect(self):
        """Shakes hands."""
        self.request("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "blackbox", "version": "1"}})
        self._write({"method": "notifications/initialized"})
        return self

    def call(self, tool, args, timeout=20):
        """Calls a tool."""
        result = self.request("tools/call", {"name": tool, "arguments": args}, timeout)
        return "".join(part.get("text", "") for part in result["content"])

    def close(self):
        """Closes stdin, and helps with SIGTERM and SIGKILL where that is not enough."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                self.process.wait(2)
                break
            except subprocess.TimeoutExpired:
                self._signal(number)
        self.process.wait()
        self._signal(signal.SIGKILL)  # what it has started

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass


def connect(entry):
    """A connected server of an entry of mcpServers. One that does not connect is ended."""
    server = Server(entry["command"], entry["args"])
    try:
        return server.connect()
    except BaseException:  # a signal, too
        server.close()
        raise


def read_config(path):
    """The servers of a file in the usual format."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)["mcpServers"]
