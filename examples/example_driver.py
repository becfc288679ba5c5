#!/usr/bin/env python3
"""A whole driver: docs/use/driver-protocol.md around the official Python SDK (pip install mcp), with no library of leakbench."""
import asyncio, contextlib, json, os, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

class Session:  # a client in a task of its own, which enters its context and leaves it
    def __init__(self, server):
        self.ready, self.over = asyncio.get_running_loop().create_future(), asyncio.Event()
        self.task = asyncio.create_task(self.live(server))
    async def live(self, server):
        async with stdio_client(StdioServerParameters(command=server["command"], args=server["args"])) as streams, ClientSession(*streams) as client:
            await client.initialize()
            self.ready.set_result(client)
            await self.over.wait()
    async def open(self):
        await asyncio.wait([self.ready, self.task], return_when=asyncio.FIRST_COMPLETED)
        if self.task.done():
            await self.task  # raises what went wrong
    async def close(self):
        self.over.set() if self.ready.done() else self.task.cancel()
        with contextlib.suppress(Exception, asyncio.CancelledError):
            await self.task

sessions, tasks = {}, {}  # tasks: by request id, for cancel
async def perform(r):
    for s in r.get("sessions", [r]):  # a reload's, or the request's own
        if r["op"] in ("open", "reload", "close") and s["session"] in sessions:
            await sessions.pop(s["session"]).close()
        if "server" in s:
            session = Session(s["server"])
            try:
                await session.open()
            except BaseException:  # also a cancel or the time limit
                await session.close()
                raise
            sessions[s["session"]] = session
    if r["op"] == "call":
        result = await sessions[r["session"]].ready.result().call_tool(r["tool"], r.get("args", {}))
        return {"result": "\n".join(part.text for part in result.content)}
    if r["op"] == "cancel":
        tasks[r["target"]].cancel()
    if r["op"] == "stop":
        await asyncio.gather(*(session.close() for session in sessions.values()))
    return {}
async def serve(r):
    try:
        answer = {"ok": True, **await asyncio.wait_for(perform(r), r.get("timeout_ms", 30000) / 1000)}
    except (Exception, asyncio.CancelledError) as e:
        answer = {"error": repr(e)}
    print(json.dumps({"id": r["id"], **answer}), flush=True)
    if r["op"] == "stop":
        os._exit(0)
async def main():
    print(json.dumps({"hello": {"protocol": 1, "host": "example", "ops": "open call cancel close reload stop".split()}}), flush=True)
    while line := await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
        r = json.loads(line)
        tasks[r["id"]] = asyncio.create_task(serve(r))
asyncio.run(main())
