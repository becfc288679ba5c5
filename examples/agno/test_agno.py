"""A published framework whose calls no bench can know: agno's MCPTools, with call. The test without call is to fail."""

import asyncio
from contextlib import asynccontextmanager

from agno.tools.mcp import MCPTools
from mcp import StdioServerParameters


@asynccontextmanager
async def connect(argv):
    async with MCPTools(server_params=StdioServerParameters(command=argv[0], args=argv[1:]), transport="stdio") as tools:
        yield tools


async def call(tools, name, arguments):
    result = await tools.functions[name].entrypoint(**arguments)
    if result.content.startswith(("Error", f"MCP tool '{name}' failed")):  # it raises nothing
        raise RuntimeError(result.content)
    return result.content


def test_storm(mcp_lab):
    asyncio.run(mcp_lab.storm(connect, call=call))


def test_storm_without_call(mcp_lab):
    asyncio.run(mcp_lab.storm(connect))
