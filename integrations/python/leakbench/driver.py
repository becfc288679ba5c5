"""The driver's side of leakbench's driver protocol (docs/use/driver-protocol.md), for hosts in Python with asyncio.

A host is an object with one method, connect(server, seconds): an asynchronous context manager around a connected client, whose
call(tool, arguments, seconds) returns the text of the result. Owned holds one in a task of its own, which enters the context and
leaves it: the way of anyio's task groups, on which the clients stand. A host whose users do otherwise brings a session class of its own.

A host with lists = True also has list(what, seconds) in its clients, which asks the server for its tools, resources or prompts each
time, and returns their names.
"""

import asyncio
import concurrent.futures
import contextlib
import gc
import inspect
import json
import os
import sys
import threading

OPS = ["open", "call", "cancel", "close", "forget", "reload", "tick", "list", "stop"]


class Owned:
    """A session in a task of its own, like a coroutine of a server that lives as long as its connection."""

    def __init__(self, host):
        self.host, self.client, self.over, self.owner = host, None, asyncio.Event(), None

    async def open(self, server, seconds):
        ready = asyncio.get_running_loop().create_future()
        self.owner = asyncio.create_task(self._live(server, seconds, ready))
        while not ready.done():
            try:
                await asyncio.wait([ready, self.owner], return_when=asyncio.FIRST_COMPLETED)
                if self.owner.done():
                    await self.owner  # raises what went wrong
            except asyncio.CancelledError:
                if self.owner.done():
                    raise
                self.owner.cancel()  # the task that connects is what a user of the client cancels; once more at a second cancel
        self.client = ready.result()

    async def _live(self, server, seconds, ready):
        async with self.host.connect(server, seconds) as client:
            ready.set_result(client)
            await self.over.wait()

    async def call(self, tool, arguments, seconds):
        return await self.client.call(tool, arguments, seconds)

    async def list(self, what, seconds):
        return await self.client.list(what, seconds)

    async def close(self):
        self.over.set()
        await self.owner

    def forget(self):
        self.owner.cancel()  # its task is cancelled, and nobody waits for it


class Clients:
    """A host made of a class with three coroutines: open(command, args), call(tool, arguments), close(). They may be functions that
    block, of a client without asyncio: see Threaded. With a fourth one, list(what), it offers to list: what is "tools", "resources" or
    "prompts", and the result the names of what the server has. Open, call and list may take seconds as well: see limited."""

    def __init__(self, make):
        self.make = make
        self.lists = hasattr(make, "list")

    @contextlib.asynccontextmanager
    async def connect(self, server, seconds):
        client = self.make()
        if not inspect.iscoroutinefunction(client.open):
            client = Threaded(client)
        await within(seconds, limited(client.open, seconds, server["command"], server["args"]))
        try:
            yield Calling(client)
        finally:
            await client.close()


class Threaded:
    """A client whose functions block: they run in threads. No thread can be cancelled, so an open that is cancelled, or out of time,
    lasts as long as the client's own time limit lets it (profile: confirm). What it has opened by then is closed."""

    threads = concurrent.futures.ThreadPoolExecutor(256)

    def __init__(self, client):
        self.client = client

    def begin(self, function, seconds, *args):
        return asyncio.get_running_loop().run_in_executor(self.threads, limited, function, seconds, *args)

    async def open(self, command, args, seconds):
        opening, unwanted = self.begin(self.client.open, seconds, command, args), None
        while not opening.done():
            try:
                await asyncio.wait([opening])
            except asyncio.CancelledError as e:
                unwanted = e
        opening.result()  # raises what went wrong
        if unwanted:
            await self.close()
            raise unwanted

    async def call(self, tool, arguments, seconds):
        return await self.begin(self.client.call, seconds, tool, arguments)

    async def list(self, what, seconds):
        return await self.begin(self.client.list, seconds, what)

    async def close(self):
        await self.begin(self.client.close, None)


class Calling:
    def __init__(self, client):
        self.client = client

    async def call(self, tool, arguments, seconds):
        return await within(seconds, limited(self.client.call, seconds, tool, arguments))

    async def list(self, what, seconds):
        return list(await within(seconds, limited(self.client.list, seconds, what)))


def limited(function, seconds, *args):
    """Calls a function of the client, with the bench's time limit if it has a parameter of that name: seconds is None for none."""
    takes = "seconds" in inspect.signature(function).parameters
    return function(*args, **({"seconds": seconds or None} if takes else {}))


async def within(seconds, awaitable):
    """Waits at most so long, in the same task: what a context manager enters must be left in it."""
    if not seconds:
        return await awaitable
    try:
        async with asyncio.timeout(seconds):
            return await awaitable
    except TimeoutError as e:
        raise TimeoutError(f"not done within the time limit of {seconds:g}s: deadline exceeded") from e


def text_of(content):
    return "\n".join(part.text for part in content if getattr(part, "type", "") == "text")


def result_text(result):
    """The text of a tool's result, of either version of the SDK; a tool that failed is an error."""
    text = text_of(result.content)
    if getattr(result, "is_error", False) or getattr(result, "isError", False):
        raise RuntimeError(f"the tool failed: {text[:1000]}")
    return text


class NotPlayed(Exception):
    """What a call raises that there is no way to make: the bench leaves it out, and a run without a finding is inconclusive."""


def failure(e):
    """How an answer tells of an exception."""
    return {"error": describe(e), "not_played": str(e)} if isinstance(e, NotPlayed) else {"error": describe(e)}


def describe(e):
    """An exception in a line; of a group, what is in it."""
    if isinstance(e, BaseExceptionGroup):
        return "; ".join(describe(inner) for inner in e.exceptions)
    if isinstance(e, asyncio.CancelledError):
        return "cancelled"
    return f"{type(e).__name__}: {e}"


class Driver:
    """Serves the requests of the bench, each in a task of its own."""

    def __init__(self, host, session=Owned, *, write):
        self.host, self.session = host, session
        self.sessions, self.running, self.jobs = {}, {}, {}
        self.stopped = asyncio.Event()
        self.write = write

    def hello(self, name, version, not_applicable=None, kind=None, profile=None):
        reasons = not_applicable or {}
        lists = getattr(self.host, "lists", False)
        offered = [op for op in OPS if op not in reasons and (lists or op != "list")]
        said = {key: value for key, value in {"kind": kind, "profile": profile}.items() if value}
        self.write({"hello": {"protocol": 1, "host": name, "version": version, "ops": offered, "not_applicable": reasons, **said}})

    def begin(self, request):
        """Serves a request in a task of its own, which it returns."""
        task = self.running[request["id"]] = asyncio.create_task(self.serve(request))
        return task

    async def serve(self, request):
        answer = {"id": request["id"]}
        try:
            answer.update(await getattr(self, "do_" + request["op"])(request) or {})
            answer["ok"] = True
        except (Exception, asyncio.CancelledError) as e:
            answer.update(failure(e))
        del self.running[request["id"]]
        self.write(answer)
        if request["op"] == "stop":
            self.stopped.set()

    async def open(self, name, server, seconds):
        """A reconnect closes the old connection first. Of two at the same time the later one wins."""
        if old := self.sessions.pop(name, None):
            await self.quietly(old)
        new = self.session(self.host)
        await new.open(server, seconds)
        other, self.sessions[name] = self.sessions.get(name), new
        if other:
            await self.quietly(other)

    async def quietly(self, session):
        try:
            await session.close()
        except (Exception, asyncio.CancelledError) as e:
            print("closing a session:", describe(e), file=sys.stderr)

    def take(self, r):
        if r["session"] not in self.sessions:
            raise KeyError(f"no session {r['session']!r}")
        return self.sessions.pop(r["session"])

    async def do_open(self, r):
        await self.open(r["session"], r["server"], r.get("timeout_ms", 0) / 1000)

    async def do_call(self, r):
        if r["session"] not in self.sessions:
            raise KeyError(f"no session {r['session']!r}")
        session = self.sessions[r["session"]]
        return {"result": await session.call(r["tool"], r.get("args") or {}, r.get("timeout_ms", 0) / 1000)}

    async def do_list(self, r):
        if r["session"] not in self.sessions:
            raise KeyError(f"no session {r['session']!r}")
        return {"result": await self.sessions[r["session"]].list(r["what"], r.get("timeout_ms", 0) / 1000)}

    async def do_cancel(self, r):
        if name := r.get("session"):
            task = self.jobs.get(name)
        else:
            task = self.running.get(r.get("target"))
        if task is None:
            raise KeyError(f"no job of session {name!r} is running" if name else f"request {r.get('target')} is not running")
        task.cancel()

    async def do_close(self, r):
        await self.take(r).close()

    async def do_forget(self, r):
        self.take(r).forget()

    async def do_reload(self, r):
        """One session after the other: no client here has a reload of its own."""
        failed = []
        for s in r["sessions"]:
            try:
                await self.open(s["session"], s["server"], r.get("timeout_ms", 0) / 1000)
            except Exception as e:
                failed.append(f"session {s['session']}: {describe(e)}")
        if failed:
            raise RuntimeError("; ".join(failed))

    async def do_tick(self, r):
        for job in r.get("jobs") or []:
            self.jobs[job["session"]] = asyncio.create_task(self.job(job))
        results = []
        for job in r.get("jobs") or []:
            result = {"session": job["session"]}
            try:
                await self.jobs[job["session"]]
                result["ok"] = True
            except (Exception, asyncio.CancelledError) as e:
                result.update(failure(e))
            del self.jobs[job["session"]]
            results.append(result)
        return {"jobs": results}

    async def job(self, job):
        """A client for one job, as the documentation's example: connect, call, and out of the context."""
        async with self.host.connect(job["server"], 0) as client:
            await client.call(job["tool"], job.get("args") or {}, job.get("timeout_ms", 0) / 1000)

    async def do_stop(self, r):
        sessions, self.sessions = list(self.sessions.values()), {}
        await asyncio.gather(*(self.quietly(s) for s in sessions))


async def collect():
    """What nobody can reach any more is collected every second, as in a program that is busy: an idle one's collector may never come
    by, and whether a client is in a cycle with its own exception is not the question here. LEAKBENCH_COLLECTOR=idle asks it."""
    while os.environ.get("LEAKBENCH_COLLECTOR") != "idle":
        await asyncio.sleep(1)
        gc.collect()


def own_stdout():
    """Keeps stdout for the protocol: what a client or its libraries print from now on goes to stderr, the host's log."""
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout.flush()
    os.dup2(2, 1)
    return protocol


def run(name, version, host, session=Owned, not_applicable=None, kind=None, profile=None):
    """Runs a driver until it is told to stop. kind is what the host is: "library", "application" or "gateway". profile is what it
    declares of itself: {"settle": "2.5s", "servers": "per-request"} (docs/use/driver-protocol.md).
    There is no handler for SIGTERM, as no documentation has one: the program dies of it."""
    protocol = own_stdout()

    async def main():
        loop = asyncio.get_running_loop()
        driver = Driver(host, session, write=lambda line: print(json.dumps(line), file=protocol, flush=True))

        def read():
            for line in sys.stdin.buffer:
                if line.strip():
                    loop.call_soon_threadsafe(driver.begin, json.loads(line))
            os._exit(1)  # the bench is gone

        driver.hello(name, version, not_applicable, kind, profile)
        threading.Thread(target=read, daemon=True).start()
        collector = asyncio.create_task(collect())
        await driver.stopped.wait()
        collector.cancel()

    asyncio.run(main())
    sys.stdout.flush()
    # The thread that reads stdin is in the middle of a read: an ordinary exit would wait for its lock.
    os._exit(0)
