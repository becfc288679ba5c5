"""What pytest prints where the plugin has found something: .ci/packages runs this, with the wheel and a published pytest."""

import re

import pytest

pytest_plugins = "pytester"

HEAD = """
import asyncio, subprocess, sys
import anyio.to_thread  # flat_async then goes through it
import pytest

kept = []

def launch(argv):
    kept.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
"""


@pytest.fixture
def shown(pytester):
    """Runs pytest on a test and returns what it prints of its failure, or else of its teardown, and all that it prints."""

    def run(test, *options):
        pytester.makepyfile(test_it=HEAD + test)
        given = ["--leakbench", "-q", "-p", "no:cacheprovider", "-o", "leakbench_settle=0.5", "-o", "leakbench_confirm=0.3"]
        out = pytester.runpytest_subprocess(*given, *options).stdout.str()
        said = dict(re.findall(r"(?ms)^_{3,} ([^\n]*test_it\w*) _{3,}\n(.*?)(?=^(?:_{3,} |={3,}))", out))
        return said.get("test_it") or next(iter(said.values())), out

    return run


def line_of(test, part):
    """The place of a line, as pytest has it."""
    return f"test_it.py:{[n for n, line in enumerate((HEAD + test).strip().splitlines(), 1) if part in line][0]}"


@pytest.mark.parametrize("body", ["asyncio.run(inner())", "asyncio.run(grouped())"])
def test_a_finding_has_no_frame_but_those_of_the_tests(shown, body):
    test = f"""
def test_it(mcp_lab):
    async def inner():
        launch(mcp_lab.server(ignore="eof"))
        await mcp_lab.flat_async(0)
    async def grouped():
        async with anyio.create_task_group():
            await inner()
    {body}
"""
    text, out = shown(test)
    for noise in ("base_events.py", "runners.py", "_asyncio.py", "lab.py", "run_until_complete", "ExceptionGroup"):
        assert noise not in text
    assert "leak  lab on test_it: 1 finding" in text
    assert f"\n{line_of(test, 'mcp_lab.flat_async')}: LeakError" in text
    said = [line for line in text.splitlines() if line.startswith("E ")]
    assert len(text.splitlines()) <= len(said) + 20
    assert "FAILED test_it.py::test_it - leakbench: " in out


def test_full_trace_has_them_all(shown):
    text, _ = shown('def test_it(mcp_lab):\n    launch(mcp_lab.server(ignore="eof"))\n    asyncio.run(mcp_lab.flat_async(0))\n', "--full-trace")
    assert "run_until_complete" in text


def test_a_wrong_fault_is_the_error_of_its_line(shown):
    test = 'def test_it(mcp_lab):\n    mcp_lab.server("on=eof,do=dance")\n'
    text, _ = shown(test)
    assert f"\n{line_of(test, 'dance')}: LabError" in text
    assert "self.bench.ask" not in text


def test_a_process_that_is_left_has_the_line_that_launched_it(shown):
    test = 'def test_it():\n    launch(["sleep", "20"])\n'
    text, out = shown(test)
    assert f"it was launched at {line_of(test, 'kept.append')} (called at {line_of(test, 'launch([')})" in text
    assert "hidden" not in text
    assert "ERROR test_it.py::test_it - leakbench: 1 process is left" in out


def test_a_launch_of_asyncio_has_the_line_that_awaits_it(shown):
    test = """
async def inner():
    kept.append(await asyncio.create_subprocess_exec("sleep", "20"))
def test_it():
    asyncio.run(inner())
"""
    text, _ = shown(test)
    assert f"it was launched at {line_of(test, 'create_subprocess')} (called at {line_of(test, 'asyncio.run')})" in text


ORPHAN = "[sys.executable, '-c', 'import subprocess; subprocess.Popen([\"sleep\", \"20\"])']"


def test_an_orphan_has_the_line_of_its_session(shown):
    test = f"def test_it():\n    launch(['true'])\n    subprocess.run({ORPHAN}, check=True, start_new_session=True)\n    kept[0].wait()\n"
    text, _ = shown(test)
    assert re.search(rf"it comes from pid \d+, which was launched at {line_of(test, 'subprocess.run')}\n", text)


def test_an_orphan_of_anybody_has_all_lines(shown):
    test = f"def test_it():\n    subprocess.run(['true'])\n    subprocess.run({ORPHAN}, check=True)\n"
    text, _ = shown(test)
    assert f"has launched some at {line_of(test, 'true')}, {line_of(test, 'sleep')}\n" in text


def test_what_a_fixture_of_the_session_leaves_has_its_line(shown, pytester):
    test = """
@pytest.fixture(scope="session")
def shared():
    launch(["sleep", "20"])
def test_it(shared):
    pass
def test_it_fails():
    assert False
"""
    _, out = shown(test)
    assert "it was launched at" not in out  # a failed run says that alone
    pytester.makepyfile(test_it=HEAD + test.replace("assert False", "pass"))
    out = pytester.runpytest_subprocess("--leakbench", "-q", "-o", "leakbench_settle=0.5").stdout.str()
    assert "after the last test, 1 process is left" in out
    assert f"(called at {line_of(test, 'launch([')})" in out
