"""Brokers in processes of their own."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.brokers import PATIENCE, awaited, until
from tamis.cli.broker_processes import Plan, brokers
from tamis.cli.errors import InputError
from tamis.client import connect

#: Starts a broker, tells its own children, and waits to be killed.
PARENT = """
import asyncio
from pathlib import Path
from tamis.cli.broker_processes import Plan, brokers

async def main():
    async with brokers([Plan("b0", ())]):
        print(Path("/proc/self/task").joinpath(str(__import__("os").getpid()), "children").read_text(), flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def runs(pid: int) -> bool:
    """Say whether there is such a process, and it is not only waiting to be asked how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@awaited
async def test_brokers_are_linked_and_gone_at_the_end() -> None:
    async with (
        brokers([Plan("b0", ()), Plan("b1", (0,))]) as urls,
        connect(urls[0]) as publisher,
        connect(urls[1]) as subscriber,
    ):
        got = asyncio.Event()

        @subscriber.on("x = 1")
        def handle(_event: object) -> None:
            got.set()

        # Until the link stands, what is published at one broker stays there.
        while not got.is_set():
            await publisher.publish({"x": 1})
    for url in urls:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))


@awaited
async def test_a_broker_that_does_not_start_says_why() -> None:
    with pytest.raises(InputError, match=r"broker b0 does not start: .*nonsense"):
        async with brokers([Plan("b0", ())], ["--strategy", "nonsense"]):
            pass


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
@awaited
async def test_a_broker_ends_when_its_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        children = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(children) == 1
        assert all(map(runs, children))
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait(PATIENCE)
    await until(lambda: not any(map(runs, children)))
