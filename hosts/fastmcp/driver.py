"""Puts the fastmcp client on the bench, used as its documentation says (gofastmcp.com, "Clients" and "Client Transports").

A session is a Client with a StdioTransport, in "async with". The transport's keep_alive is what it is without being asked for: True.
The server then outlives the context, for as long as the Client is there. A session that is closed drops its Client too.
"""

import contextlib

import fastmcp
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from leakbench import driver


class Connected:
    def __init__(self, client):
        self.client = client

    async def call(self, tool, arguments, seconds):
        # The default of raise_on_error: a tool's error is an exception.
        result = await self.client.call_tool(tool, arguments, timeout=seconds or None)
        return driver.text_of(result.content)

    async def list(self, what, seconds):
        asks = {"tools": self.client.list_tools, "resources": self.client.list_resources, "prompts": self.client.list_prompts}
        return [one.name for one in await driver.within(seconds, asks[what]())]


class Host:
    lists = True

    @contextlib.asynccontextmanager
    async def connect(self, server, seconds):
        transport = StdioTransport(command=server["command"], args=server["args"])
        # init_timeout is the client's own limit for the handshake.
        async with Client(transport, init_timeout=seconds or None) as client:
            yield Connected(client)


if __name__ == "__main__":
    driver.run("fastmcp", fastmcp.__version__, Host(), kind="library")
