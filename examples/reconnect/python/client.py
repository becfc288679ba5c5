"""A client of MCP servers over stdio, without an SDK: it reconnects by itself in a call when its server is gone."""

import asyncio
import json
import subprocess

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "reconnect", "version": "1"}}


class Client:
    drops = False  # True is the bug: the server that is replaced is never ended

    def __init__(self, command, args):
        self.command, self.args, self.number, self.turn, self.closed = command, args, 0, asyncio.Lock(), False

    async def __aenter__(self):
        await self.connect()
        return self

    async def __aexit__(self, *raised):
        await self.close()

    async def close(self):
        self.closed = True  # a call that is cut off by this does not reconnect
        await self.end(self.process)

    async def connect(self):
        self.process = await asyncio.create_subprocess_exec(self.command, *self.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if self.closed:
                raise ConnectionError("the client was closed")
            await self.ask("initialize", HELLO)
            self.send({"method": "notifications/initialized"})
        except BaseException:
            await self.end(self.process)
            raise

    async def call_tool(self, name, arguments):
        async with self.turn:
            try:
                return await self.ask("tools/call", {"name": name, "arguments": arguments})
            except ConnectionError:  # the server is gone: another one, and once more
                if self.closed:
                    raise
                if not self.drops:
                    await self.end(self.process)
                await self.connect()
                return await self.ask("tools/call", {"name": name, "arguments": arguments})

    async def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while line := await self.process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return json.dumps(answer["result"])
        raise ConnectionError("the server has closed its stdout")

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def end(self, process):
        """The end of stdin, time, SIGKILL, and a wait."""
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 2)
        except TimeoutError:
            process.kill()
            await process.wait()


class Dropping(Client):
    drops = True
