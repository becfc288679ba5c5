"""The client for the skeleton in docs/use/driver-protocol.md: functions that block, and pipes."""

import itertools
import json
import os
import queue
import subprocess
import threading


class Client:
    def connect(self, command, args, seconds):
        self.process = subprocess.Popen([command, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.numbers, self.asked = itertools.count(1), {}
        threading.Thread(target=self.read, daemon=True).start()
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "skeleton", "version": "1"}}
        self.ask("initialize", client, seconds)
        self.send(method="notifications/initialized")

    def list_tools(self, seconds):
        return self.ask("tools/list", {}, seconds)["tools"]

    def call(self, tool, args, seconds):
        return self.ask("tools/call", {"name": tool, "arguments": args}, seconds)["content"][0]["text"]

    def close(self):
        if os.environ.get("FORGETS"):
            raise RuntimeError("the client forgets to close")
        self.process.stdin.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            if one := self.asked.pop(answer.get("id"), None):
                one.put(answer)

    def ask(self, method, params, seconds):
        number = next(self.numbers)
        answer = self.asked[number] = queue.Queue()
        self.send(id=number, method=method, params=params)
        return answer.get(timeout=seconds)["result"]

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()
