"""A storm inside of this process, with the client of a published package: mcp (either version) or fastmcp."""

import asyncio
import sys
from contextlib import asynccontextmanager

from leakbench.lab import Bench, Lab, LeakError


@asynccontextmanager
async def mcp(argv):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async with stdio_client(StdioServerParameters(command=argv[0], args=argv[1:])) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def fastmcp(argv):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async with Client(StdioTransport(command=argv[0], args=argv[1:], keep_alive=False)) as client:
        yield client


bench = Bench(sys.argv[2])
try:
    asyncio.run(Lab(bench, sys.argv[1]).storm(globals()[sys.argv[1]]))
    print("clean")
except LeakError as e:
    print(e)
finally:
    bench.close()
