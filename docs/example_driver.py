#!/usr/bin/env python3
"""A host for leakbench in 60 lines of standard library: docs/driver-protocol.md in practice, all but the tick."""
import asyncio, contextlib, itertools, json, os, signal, sys
class Client:  # one MCP server, in a process group of its own, and the conversation with it
    async def open(self, server):
        self.lock, self.ids = asyncio.Lock(), itertools.count(1)
        self.process = await asyncio.create_subprocess_exec(
            server["command"], *server["args"], stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=True)
        try:
            await self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "example", "version": "1"})
            self.send(method="notifications/initialized")
        except BaseException:  # also a cancel or the time limit: a server that did not come up is there all the same
            await self.close()
            raise
        return self
    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    async def ask(self, method, **params):
        async with self.lock:
            self.send(id=(number := next(self.ids)), method=method, params=params)
            while (message := json.loads(await self.process.stdout.readline())).get("id") != number:
                pass  # a notification; garbage and the end of stdout are errors of json.loads
            return message["result"]
    async def close(self):  # stdin, time, TERM, time, KILL, to the group, and wait: neither server nor helper nor zombie
        self.process.stdin.close()
        for sig in signal.SIGTERM, signal.SIGKILL:
            with contextlib.suppress(asyncio.TimeoutError):
                return await asyncio.wait_for(self.process.wait(), 2)
            os.killpg(self.process.pid, sig)
        await self.process.wait()

sessions, tasks = {}, {}  # tasks: by request id, for cancel
async def perform(r):
    for s in r.get("sessions", [r]):  # a reload's, or the request's own
        if r["op"] in ("open", "reload", "close") and s["session"] in sessions:
            await sessions.pop(s["session"]).close()
        if "server" in s:
            sessions[s["session"]] = await Client().open(s["server"])
    if r["op"] == "call":
        result = await sessions[r["session"]].ask("tools/call", name=r["tool"], arguments=r.get("args", {}))
        return {"result": "\n".join(part.get("text", "") for part in result["content"])}
    if r["op"] == "cancel":
        tasks[r["target"]].cancel()
    if r["op"] == "stop":
        await asyncio.gather(*(client.close() for client in sessions.values()))
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
