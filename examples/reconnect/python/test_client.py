"""The client on the bench, inside of its tests: pytest. Those that are marked leaking are to fail."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from client import Client, Dropping

LEAKING = pytest.mark.leaking


@asynccontextmanager
async def connect(argv):
    async with Client(argv[0], argv[1:]) as client:
        yield client


@asynccontextmanager
async def dropping(argv):
    async with Dropping(argv[0], argv[1:]) as client:
        yield client


def test_reconnect(mcp_lab):
    asyncio.run(mcp_lab.storm(connect))


@LEAKING
def test_reconnect_dropping(mcp_lab):
    asyncio.run(mcp_lab.storm(dropping))


async def one_reconnect(lab, open):
    async with open(lab.server("on=call,do=close-stdout,launch=1")) as client:
        await client.call_tool("echo", {"text": "hello"})  # the first server closes its stdout, and the client launches a second one
        await lab.flat_async(1)  # the second one is alive, and no other


def test_one_reconnect(mcp_lab):
    asyncio.run(one_reconnect(mcp_lab, connect))


@LEAKING
def test_one_reconnect_dropping(mcp_lab):
    asyncio.run(one_reconnect(mcp_lab, dropping))


class Renamed:
    """The client with the bug, whose method has another name."""

    def __init__(self, client):
        self.invoke = client.call_tool


@asynccontextmanager
async def renamed(argv):
    async with Dropping(argv[0], argv[1:]) as client:
        yield Renamed(client)


async def invoke(client, tool, arguments):
    return await client.invoke(tool, arguments)


@LEAKING
def test_renamed(mcp_lab):
    asyncio.run(mcp_lab.storm(renamed, call=invoke))


@LEAKING
def test_renamed_without_call(mcp_lab):
    asyncio.run(mcp_lab.storm(renamed))


@LEAKING
def test_jobs_without_call(mcp_lab):
    asyncio.run(mcp_lab.play("cron", renamed))


class Blocking:
    """The client without the bug, whose method blocks, for whom the loop runs in this thread."""

    def __init__(self, client, loop):
        self.client, self.loop = client, loop

    def call_tool(self, name, arguments):
        return asyncio.run_coroutine_threadsafe(self.client.call_tool(name, arguments), self.loop).result()


@asynccontextmanager
async def blocking(argv):
    async with Client(argv[0], argv[1:]) as client:
        yield Blocking(client, asyncio.get_running_loop())


def test_blocking(mcp_lab):
    asyncio.run(mcp_lab.storm(blocking))
