"""Two ways to keep MCP clients of the official Python SDK: one leaks a process, the other does not."""

from contextlib import AsyncExitStack, asynccontextmanager

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

stacks = []


@asynccontextmanager
async def leaking(argv):
    """A server that refuses the handshake stays: its stack is closed by those alone who got a session."""
    stack = AsyncExitStack()
    stacks.append(stack)
    session = await connect(stack, argv)
    yield session
    await stack.aclose()


@asynccontextmanager
async def fixed(argv):
    """The stack is left however this ends."""
    async with AsyncExitStack() as stack:
        yield await connect(stack, argv)


async def connect(stack, argv):
    read, write = await stack.enter_async_context(stdio_client(StdioServerParameters(command=argv[0], args=argv[1:])))
    session = await stack.enter_async_context(ClientSession(read, write))
    await session.initialize()
    return session


async def call(session, tool, arguments):
    result = await session.call_tool(tool, arguments)
    return "\n".join(part.text for part in result.content)
