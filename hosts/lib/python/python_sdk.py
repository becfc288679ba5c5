"""Puts the official Python SDK (PyPI: mcp) on the bench, used as its README says.

Version 2 has Client, version 1 stdio_client and ClientSession; whichever is installed is driven. Both are asynchronous context
managers, entered and left in one task: "async with". With --stack they are entered and left on an AsyncExitStack instead, as the
SDK's own example does (examples/clients/simple-chatbot, class Server), in the tasks that happen to serve the requests.
"""

import asyncio
import contextlib
import importlib.metadata
import logging
import sys
from datetime import timedelta

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from leakbench import driver

VERSION = importlib.metadata.version("mcp")
MODERN = int(VERSION.split(".")[0]) >= 2
if MODERN:
    from mcp import Client
else:
    from mcp import ClientSession


class Connected:
    """A connected client of either version."""

    def __init__(self, client):
        self.client = client

    async def call(self, tool, arguments, seconds):
        limit = seconds or None
        if not MODERN and limit:
            limit = timedelta(seconds=limit)
        return driver.result_text(await self.client.call_tool(tool, arguments, read_timeout_seconds=limit))

    async def list(self, what, seconds):
        asks = {"tools": self.client.list_tools, "resources": self.client.list_resources, "prompts": self.client.list_prompts}
        return [one.name for one in getattr(await driver.within(seconds, asks[what]()), what)]


async def enter(stack, server, seconds):
    """Connects on an exit stack: the same calls in both styles."""
    parameters = StdioServerParameters(command=server["command"], args=server["args"])
    if MODERN:
        # The README's Client(parameters) came with 2.1.
        target = stdio_client(parameters) if VERSION.startswith("2.0.") else parameters
        return Connected(await driver.within(seconds, stack.enter_async_context(Client(target))))
    read, write = await stack.enter_async_context(stdio_client(parameters))
    session = await stack.enter_async_context(ClientSession(read, write))
    await driver.within(seconds, session.initialize())
    return Connected(session)


class Host:
    lists = True

    @contextlib.asynccontextmanager
    async def connect(self, server, seconds):
        async with contextlib.AsyncExitStack() as stack:
            yield await enter(stack, server, seconds)


class Stacked:
    """A session on an AsyncExitStack, like class Server of the SDK's simple-chatbot: opened in the task of one request and closed in
    that of another, as the handlers of a gateway are."""

    def __init__(self, host):
        self.stack, self.client, self.cleaning = contextlib.AsyncExitStack(), None, asyncio.Lock()

    async def open(self, server, seconds):
        try:
            self.client = await enter(self.stack, server, seconds)
        except Exception:
            await self.close()
            raise

    async def call(self, tool, arguments, seconds):
        return await self.client.call(tool, arguments, seconds)

    async def list(self, what, seconds):
        return await self.client.list(what, seconds)

    async def close(self):
        async with self.cleaning:
            try:
                await self.stack.aclose()
                self.client = None
            except Exception as e:
                logging.error("Error during cleanup: %s", e)

    def forget(self):
        self.stack = self.client = None


if __name__ == "__main__":
    stacked = "--stack" in sys.argv[1:]
    driver.run("python-sdk-stack" if stacked else "python-sdk", VERSION, Host(), Stacked if stacked else driver.Owned, kind="library")
