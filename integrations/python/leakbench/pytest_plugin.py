"""The pytest plugin: the fixture mcp_lab, and --leakbench, which fails each test that leaves a process."""

import os
import re
from pathlib import Path
from types import TracebackType

import pytest

from leakbench.lab import Bench, Lab, LabError, LeakError
from leakbench.launches import Launches, foreign

BENCH, KNOWN, SHARED = pytest.StashKey(), pytest.StashKey(), pytest.StashKey()
LAUNCHES, FIRST = pytest.StashKey(), pytest.StashKey()
MARK = "LEAKBENCH_TESTS"  # in the environment of what this process launches, where that is not filtered


def pytest_addoption(parser):
    group = parser.getgroup("leakbench")
    group.addoption("--leakbench", action="store_true", help="fail each test that leaves a process: a child, or an orphan of one")
    group.addoption("--leakbench-out", default=None, metavar="DIR", help="folder for the runs and pages of mcp_lab (default: pytest's own)")
    parser.addini("leakbench_settle", "seconds in which a process that should be gone may still be there (default 15, of --leakbench 5)", default="")
    parser.addini("leakbench_confirm", "seconds for which a survivor is watched after that (default 1)", default="")
    parser.addini("leakbench_fast", "give up after 2 s a server that nobody has told to end; so does LEAKBENCH_FAST=1", type="bool", default=False)


def pytest_configure(config):
    config.addinivalue_line("markers", "leakbench(settle=15, confirm=1, fast=False, allow=False): how long to wait, or allow the test to leave processes")
    if config.getoption("--leakbench"):
        os.environ[MARK] = f"{os.getpid()}.{os.urandom(4).hex()}"
        config.stash[SHARED] = []
        config.stash[LAUNCHES] = Launches(config.invocation_params.dir)
        config.stash[LAUNCHES].begin()


def pytest_unconfigure(config):
    if launches := config.stash.get(LAUNCHES, None):
        launches.end()
    if bench := config.stash.get(BENCH, None):
        bench.close()
    os.environ.pop(MARK, None)


def bench_of(config):
    if BENCH not in config.stash:
        config.stash[BENCH] = Bench()
    return config.stash[BENCH]


def setting(item, name, default):
    marker = item.get_closest_marker("leakbench")
    given = (marker.kwargs if marker else {}).get(name) or item.config.getini("leakbench_" + name)
    return float(given or default)


@pytest.fixture
def mcp_lab(request, tmp_path_factory):
    """Fake MCP servers for this test: server(ignore="eof"), flat(1), storm(open). When the test ends, none may be alive."""
    name = re.sub(r"[^\w.-]+", "-", request.node.name)
    given = request.config.getoption("--leakbench-out")
    out = Path(given) if given else tmp_path_factory.mktemp("leakbench")
    marker = request.node.get_closest_marker("leakbench")
    fast = bool((marker.kwargs if marker else {}).get("fast", request.config.getini("leakbench_fast")))
    lab = Lab(bench_of(request.config), name, setting(request.node, "settle", 15), setting(request.node, "confirm", 1), out, fast)
    yield lab
    __tracebackhide__ = True
    lab.close()


def watched(item):
    marker = item.get_closest_marker("leakbench")
    return item.config.getoption("--leakbench") and not (marker and marker.kwargs.get("allow"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if watched(item):
        item.stash[FIRST] = len(item.config.stash[LAUNCHES].made)
        item.stash[KNOWN], _ = left(item.config)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    __tracebackhide__ = True
    result = yield  # the fixtures have ended what they own
    if watched(item) and KNOWN in item.stash:
        known = [*item.stash[KNOWN], *item.config.stash[SHARED]]
        _, text = left(item.config, setting(item, "settle", 5), known, item.stash[FIRST])
        if text:
            raise LeakError("leakbench: " + text)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """What a fixture of a module or a session launches is not this test's."""
    if fixturedef.scope == "function" or not request.config.getoption("--leakbench"):
        return (yield)
    before, _ = left(request.config)
    try:
        return (yield)
    finally:
        after, _ = left(request.config)
        request.config.stash[SHARED] += [process for process in after if process not in before]


def pytest_sessionfinish(session):
    """A fixture of a session must end what it has launched, too."""
    if session.config.getoption("--leakbench") and session.config.stash[SHARED]:
        _, text = left(session.config, float(session.config.getini("leakbench_settle") or 5))
        if text and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            session.config.stash[KNOWN] = text


def pytest_terminal_summary(terminalreporter, config):
    if text := config.stash.get(KNOWN, None):
        terminalreporter.section("leakbench")
        terminalreporter.line("after the last test, " + text)


def left(config, settle=0.0, known=(), first=0):
    launched = config.stash[LAUNCHES].since(first) if settle else ()
    return bench_of(config).children(settle, known, f"{MARK}={os.environ[MARK]}", launched)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What the bench says is shown with the lines of the tests that have led to it, and without those of asyncio and of plugins."""
    said = alone(call.excinfo.value) if call.excinfo else None
    if not isinstance(said, LeakError | LabError) or item.config.getoption("fulltrace", False):
        return (yield)
    mine = own_lines(said.__traceback__)
    call.excinfo = pytest.ExceptionInfo.from_exception(said.with_traceback(mine or said.__traceback__))
    report = yield
    if not mine:
        report.longrepr = call.excinfo.getrepr(style="value")
    if crash := getattr(report.longrepr, "reprcrash", None):
        crash.message = str(said)
        if not mine:  # a finding at the end of a test
            path, line, _ = item.reportinfo()
            crash.path, crash.lineno = str(path), (line or 0) + 1
    return report


def alone(error):
    """An exception, or the only one of a group: a group that holds one says nothing more."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def own_lines(traceback):
    """A traceback without the frames of Python, of packages and of this one; None where no frame is left."""
    mine = []
    while traceback:
        if not foreign(traceback.tb_frame.f_code.co_filename):
            mine.append(traceback)
        traceback = traceback.tb_next
    kept = None
    for entry in reversed(mine):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept
