#!/usr/bin/env python3
"""A little agent: it watches over things with MCP tools, every second, until somebody stops it.

Usage: agent.py mcp.json
"""

import asyncio
import json
import logging
import signal
import sys

log = logging.getLogger("agent")


class McpClient:
    """One MCP server, over stdio."""

    def __init__(self, name, config):
        self.name = name
        self.config = config
        self.process = None
        self.reader = None
        self.next_id = 0
        self.pending = {}

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(
            self.config["command"],
            *self.config.get("args", []),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self.reader = asyncio.create_task(self._read(self.process.stdout))
        await self._request("initialize", {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "little-agent", "version": "0.1.0"},
        })
        self._send({"method": "notifications/initialized"})
        tools = await self._request("tools/list", {})
        log.info("%s: %d tools", self.name, len(tools["tools"]))

    def _send(self, message):
        message["jsonrpc"] = "2.0"
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _request(self, method, params):
        self.next_id += 1
        number = self.next_id
        future = asyncio.get_running_loop().create_future()
        self.pending[number] = future
        self._send({"id": number, "method": method, "params": params})
        try:
            answer = await asyncio.wait_for(future, 10)
        finally:
            self.pending.pop(number, None)
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]

    async def _read(self, stdout):
        while line := await stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                log.warning("%s said something strange", self.name)
                continue
            future = self.pending.get(message.get("id"))
            if future and not future.done():
                future.set_result(message)
        for future in self.pending.values():
            if not future.done():
                future.set_exception(ConnectionError(f"{self.name} has gone"))

    async def call(self, tool, **arguments):
        if self.reader.done():
            raise ConnectionError(f"{self.name} has gone")
        return await self._request("tools/call", {"name": tool, "arguments": arguments})

    async def stop(self):
        if self.process and self.process.returncode is None:
            self.process.terminate()


class Agent:
    """Keeps its clients connected, and thinks."""

    def __init__(self, config):
        self.clients = {name: McpClient(name, entry) for name, entry in config["mcpServers"].items()}

    async def run(self):
        await asyncio.gather(*(self.watch(client) for client in self.clients.values()))

    async def watch(self, client):
        while True:
            try:
                await client.start()
                while True:
                    await client.call("echo", text="anything new?")
                    await asyncio.sleep(0.5)
            except Exception as error:
                log.warning("%s: %s; connecting again", client.name, error)
                await asyncio.sleep(0.2)

    async def stop(self):
        for client in self.clients.values():
            await client.stop()


async def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    with open(sys.argv[1], encoding="utf-8") as file:
        agent = Agent(json.load(file))
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    work = asyncio.create_task(agent.run())
    log.info("the agent is running")
    await stopped.wait()
    work.cancel()
    await agent.stop()
    log.info("the agent has stopped")


asyncio.run(main())
