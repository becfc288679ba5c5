#!/usr/bin/env python3
"""Puts a client on the bench of leakbench. What is in the three functions is yours; here it is the official Python SDK (mcp)."""
from contextlib import AsyncExitStack

from leakbench import driver
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


class Client:  # its functions may also be without async, and block
    async def open(self, command, args, seconds):
        """Launches the server, shakes hands, and asks for the tools, as hosts do. If that fails, end what was begun before you raise.
        Two opens of one session may run at once: the library keeps the client that is connected last, and closes the other.
        seconds is the time limit or None. Pass it to a client that takes one; the library cancels a coroutine, but nothing that blocks."""
        async with AsyncExitStack() as stack:
            streams = await stack.enter_async_context(stdio_client(StdioServerParameters(command=command, args=args)))
            self.session = await stack.enter_async_context(ClientSession(*streams))
            await self.session.initialize()
            await self.session.list_tools()
            self.stack = stack.pop_all()

    async def call(self, tool, arguments, seconds):
        return driver.result_text(await self.session.call_tool(tool, arguments))

    async def close(self):
        await self.stack.aclose()


if __name__ == "__main__":
    driver.run("my-client", "0.0.0", driver.Clients(Client))
