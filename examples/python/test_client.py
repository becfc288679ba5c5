"""A client of the official Python SDK on the bench, inside of its tests: pytest --leakbench."""

import asyncio
import os
import subprocess
import sys

import pytest

import client

children = []  # and pipes: kept to the end

LEAKING = pytest.mark.leaking  # these are to fail: deselect them with -m "not leaking"


@pytest.mark.anyio
@LEAKING
async def test_storm_leaking(mcp_lab):
    await mcp_lab.storm(client.leaking)


@pytest.mark.anyio
async def test_storm_fixed(mcp_lab):
    await mcp_lab.storm(client.fixed)


@pytest.mark.anyio
async def test_cron_fixed(mcp_lab):
    await mcp_lab.play("cron", client.fixed, client.call)


@pytest.mark.anyio
async def test_flat(mcp_lab):
    argv = mcp_lab.server(ignore="eof")  # the SDK ends it by a signal
    async with client.fixed(argv):
        async with client.fixed(argv):
            await mcp_lab.flat_async(2)
        await mcp_lab.flat_async(1)
    mcp_lab.flat(0)


def test_flat_without_anyio(mcp_lab):
    async def twice():
        async with client.fixed(mcp_lab.server()):
            await mcp_lab.flat_async(1)

    asyncio.run(twice())


@LEAKING
def test_a_child_stays():
    children.append(subprocess.Popen(["cat"], stdin=subprocess.PIPE))  # it ends with this process


@LEAKING
def test_an_orphan_stays():
    reads, writes = os.pipe()
    children.append(writes)
    subprocess.run([sys.executable, "-c", "import subprocess; subprocess.Popen(['cat'])"], stdin=reads, check=True)


@pytest.fixture(scope="session")
def shared():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield child
    child.communicate(b"\n")


def test_a_child_of_the_session_stays(shared):
    assert shared.poll() is None
