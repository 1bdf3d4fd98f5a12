"""Brokers in processes of their own, gone when whoever started them is."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final, NamedTuple

from tamis.cli.errors import InputError

#: A broker that does not listen after so many seconds will not; one that was told to stop gets less.
PATIENCE: Final = 60.0
FAREWELL: Final = 5.0

#: Runs the command, and ends when nobody holds the other end of its standard input any more: so no broker is left
#: behind by a parent that was killed.
_PROGRAM: Final = """
import os, threading
def end():
    while os.read(0, 64):
        pass
    os._exit(1)
threading.Thread(target=end, daemon=True).start()
from tamis.cli.main import run
run()
"""


class Plan(NamedTuple):
    """A broker that is to run, and which ones before it, by number, it has links to."""

    name: str
    joins: tuple[int, ...]


@asynccontextmanager
async def brokers(plans: Sequence[Plan], arguments: Sequence[str] = ()) -> AsyncIterator[list[str]]:
    """Run brokers on free ports of this machine; give their addresses. A broker that does not start is an `InputError`.

    Those that only wait for others that listen already start at the same time.
    """
    running: list[_Broker] = []
    with TemporaryDirectory() as folder:
        try:
            while len(running) < len(plans):
                begun = len(running)
                for plan in plans[begun:]:
                    if any(other >= begun for other in plan.joins):
                        break
                    joins = [word for other in plan.joins for word in ("--join", running[other].url)]
                    running.append(_Broker(Path(folder), plan.name, [*joins, *arguments]))
                for each in running[begun:]:
                    await each.listens()
            yield [each.url for each in running]
        finally:
            _stop(running)


class _Broker:
    def __init__(self, folder: Path, name: str, arguments: Sequence[str]) -> None:
        self.name = name
        self.url = ""
        self._file = folder / f"{name}.url"
        self._log = folder / f"{name}.log"
        command = ["serve", "--name", name, "--port", "0", "--port-file", str(self._file), *arguments]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(  # noqa: S603 - this very program
                [sys.executable, "-c", _PROGRAM, *command], stdin=subprocess.PIPE, stdout=log, stderr=log
            )

    async def listens(self) -> None:
        """Wait until the broker listens."""
        since = monotonic()
        while not self._file.exists():
            if self.process.poll() is not None or monotonic() - since > PATIENCE:
                said = self._log.read_text().strip().splitlines()
                raise InputError(f"broker {self.name} does not start: {said[-1] if said else 'it says nothing'}")
            await asyncio.sleep(0.02)
        self.url = self._file.read_text()


def _stop(running: Sequence[_Broker]) -> None:
    for each in running:
        each.process.terminate()
    until = monotonic() + FAREWELL
    for each in running:
        try:
            each.process.wait(max(0.0, until - monotonic()))
        except subprocess.TimeoutExpired:
            each.process.kill()
            each.process.wait()
        assert each.process.stdin is not None
        each.process.stdin.close()
