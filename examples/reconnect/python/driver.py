#!/usr/bin/env python3
"""The client as a host of `leakbench run storm --host ./driver.py`. DROPS=1 has the bug."""

import os

from client import Client, Dropping
from leakbench import driver


class Reconnecting:
    async def open(self, command, args):
        self.client = (Dropping if os.environ.get("DROPS") else Client)(command, args)
        await self.client.connect()

    async def call(self, tool, arguments):
        return await self.client.call_tool(tool, arguments)

    async def close(self):
        await self.client.close()


driver.run("reconnect-python", "1", driver.Clients(Reconnecting), profile={"reconnects": "itself"},
           not_applicable={"forget": "it asks its callers to close it"})
