"""The bench for a test: this process is the host, and launches servers as it likes.

A Bench is `leakbench lab`, a process that the servers report to; a Lab is what one test asks of it. The pytest plugin makes both.
When this process ends, whatever the cause, the bench ends what is left of its servers.
"""

import asyncio
import inspect
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from leakbench.driver import Driver, NotPlayed


def binary():
    """The path of the leakbench program: $LEAKBENCH_BINARY, the one inside of this package, or the one in $PATH."""
    if given := os.environ.get("LEAKBENCH_BINARY"):
        return given
    inside = Path(__file__).parent / "bin" / ("leakbench.exe" if os.name == "nt" else "leakbench")
    if inside.exists():
        return str(inside)
    if found := shutil.which("leakbench"):
        return found
    raise FileNotFoundError("this leakbench package has no program for your platform inside, and none is in $PATH: set LEAKBENCH_BINARY")


class LeakError(AssertionError):
    """What the bench has found: str() is the report, page the path of the HTML page, outcome "leak" or "inconclusive"."""

    def __init__(self, text, outcome="leak", page=None):
        super().__init__(text)
        self.outcome, self.page = outcome, page


class LabError(RuntimeError):
    """Nothing was tested: a fault of the request, of the test or of the machine."""


class Bench:
    """A leakbench process. Requests may be made from any thread."""

    def __init__(self, out=".leakbench"):
        self.out = str(out)
        self.ids = itertools.count(1)
        self.waiting = {}  # id -> called with each answer
        self.lock = threading.Lock()
        self.process = subprocess.Popen(
            [binary(), "lab", "--host", str(os.getpid()), "--out", self.out],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True, name="leakbench").start()

    def _read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            if on_answer := self.waiting.get(answer["id"]):
                on_answer(answer)
        for on_answer in list(self.waiting.values()):
            on_answer({"error": f"leakbench has ended with status {self.process.wait()}"})

    def send(self, **request):
        with self.lock:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()

    def begin(self, on_answer, **request):
        """Makes a request. on_answer is called with each of its answers, in another thread; the last one has none of the driver's keys."""
        number = next(self.ids)
        self.waiting[number] = on_answer
        try:
            self.send(id=number, **request)
        except (BrokenPipeError, ValueError):
            on_answer({"error": "leakbench has ended"})
        return number

    def ask(self, **request):
        """Makes a request and waits for its answer."""
        __tracebackhide__ = True
        done, answers = threading.Event(), []
        number = self.begin(lambda answer: (answers.append(answer), done.set()), **request)
        done.wait()
        del self.waiting[number]
        return checked(answers[0])

    def children(self, settle=0.0, known=(), mark="", launched=()):
        """What is below this process, or was orphaned by it, and stays for so long: a list of identities, and a text."""
        answer = self.ask(do="children", settle=settle, known=list(known), mark=mark, launched=list(launched))
        return answer.get("left", []), answer.get("text", "")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def checked(answer):
    __tracebackhide__ = True  # of pytest: the report says it all
    if error := answer.get("error"):
        raise LabError(f"leakbench: {error}")
    if outcome := answer.get("outcome"):
        raise LeakError("leakbench: " + answer["text"], outcome, answer.get("page"))
    return answer


class Lab:
    """The servers of one test."""

    def __init__(self, bench, name, settle=15.0, confirm=1.0, out=None, fast=False):
        self.bench = bench
        self.unplayed = 0  # scenarios that nobody has awaited
        self.common = {"name": name, "settle": settle, "confirm": confirm, "fast": fast, **({"out": str(out)} if out else {})}

    def __repr__(self):  # pytest shows the arguments of a test that fails
        return f"<leakbench.lab.Lab of {self.common['name']}>"

    def server(self, *faults, **do):
        """The command line of a new fake MCP server, as a list. It does wrong what the faults say: ignore="eof" is one that ignores the
        end of its stdin, reject="initialize" one that refuses the handshake, and "on=call,do=hang,tool=echo" is the long form, as
        `leakbench fakeserver --fault` has it. `leakbench list faults` lists them."""
        short = [f"on={moment},do={action.replace('_', '-')}" for action, moment in do.items()]
        return self.bench.ask(do="server", faults=[*faults, *short], **self.common)["argv"]

    def flat(self, n):
        """Raises LeakError unless of each server exactly the newest n launches are alive, within the settle time. It blocks: beside a
        client that needs its event loop to end a server, use flat_async."""
        __tracebackhide__ = True
        self.bench.ask(do="flat", n=n, **self.common)

    async def flat_async(self, n):
        """Is flat, and lets the event loop run meanwhile."""
        __tracebackhide__ = True
        await in_thread(self.flat, n)

    def close(self):
        """Raises LeakError if a server is still alive after the settle time. What is left is killed."""
        __tracebackhide__ = True
        self.bench.ask(do="close", **self.common)
        if self.unplayed:
            raise LabError("leakbench: the test has not awaited its scenario: write await mcp_lab.storm(...) in an asynchronous test")

    def storm(self, open, call=None):
        """Plays a reconnect storm: see play. open(argv) returns an asynchronous context manager around a connected client."""
        return self.play("storm", open, call)

    def play(self, scenario, open, call=None):
        """Plays a scenario of leakbench against clients in this process and raises LeakError for what they do wrong.

        open(argv) returns an asynchronous context manager, which launches the server, shakes hands, and ends both. Tools are called by
        client.call_tool(name, arguments), or by call(client, tool, arguments), a coroutine function that returns the text of a result. It
        needs asyncio (anyio's asyncio backend will do)."""
        self.unplayed += 1
        return self._play(scenario, open, call)

    async def _play(self, scenario, open, call):
        __tracebackhide__ = True
        self.unplayed -= 1
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise LabError("a scenario is played on asyncio: mark the test with @pytest.mark.asyncio, or anyio's asyncio backend") from None
        answers = asyncio.Queue()
        request = {"do": "play", "scenario": scenario, **self.common}
        number = self.bench.begin(lambda answer: loop.call_soon_threadsafe(answers.put_nowait, answer), **request)
        driver, tasks = None, set()
        try:
            while True:
                answer = await answers.get()
                if answer.get("begin"):
                    driver = Driver(Opened(open, call or call_itself), write=lambda line: self.bench.send(id=number, from_driver=line))
                    driver.hello(self.common["name"], "")
                elif line := answer.get("to_driver"):
                    tasks.add(task := driver.begin(line))
                    task.add_done_callback(tasks.discard)
                elif not answer.get("end"):
                    checked(answer)
                    return
        finally:
            del self.bench.waiting[number]
            for task in list(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class Opened:
    """A host made of the functions of a test: see driver.Owned."""

    def __init__(self, open, call):
        self.open, self.on_call = open, call

    def connect(self, server, seconds):
        return Client(self, [server["command"], *server["args"]])


class Client:
    def __init__(self, host, argv):
        self.host, self.context = host, host.open(argv)

    async def __aenter__(self):
        self.client = await self.context.__aenter__()
        return self

    async def __aexit__(self, *raised):
        return await self.context.__aexit__(*raised)

    async def call(self, tool, arguments, seconds):
        return await asyncio.wait_for(self.host.on_call(self.client, tool, arguments), seconds or None)


async def call_itself(client, tool, arguments):
    """Calls client.call_tool(name, arguments), which the official SDK has in both versions, fastmcp has, and many others have: a coroutine
    function, or one that blocks, which runs in a thread."""
    method = getattr(client, "call_tool", None)
    if not takes_two(method):
        raise NotPlayed(
            "your client's own reconnect was not played: pass call, as in mcp_lab.storm(connect, call=...) "
            f"({type(client).__name__} has no call_tool(name, arguments))"
        )
    if inspect.iscoroutinefunction(method):
        return text_in(await method(tool, arguments))
    result = await asyncio.to_thread(method, tool, arguments)
    return text_in(await result if inspect.isawaitable(result) else result)


def takes_two(method):
    if not callable(method):
        return False
    try:
        inspect.signature(method).bind("tool", {})
    except ValueError:
        return True  # a function without a signature, such as one in C
    except TypeError:
        return False
    return True


def text_in(result):
    """The text of a tool's result: itself, or that of each part of its content. A tool that failed is an error."""
    content = result if isinstance(result, list) else getattr(result, "content", None)
    if not isinstance(content, list):
        return str(result)
    text = "\n".join(part.text for part in content if isinstance(getattr(part, "text", None), str))
    if getattr(result, "is_error", False) or getattr(result, "isError", False):
        raise RuntimeError(f"the tool failed: {text[:1000]}")
    return text


async def in_thread(function, *arguments):
    """Runs a function in a thread, on asyncio or on what anyio knows."""
    if "anyio" in sys.modules:
        import anyio.to_thread

        return await anyio.to_thread.run_sync(function, *arguments)
    return await asyncio.to_thread(function, *arguments)
