"""A process that opens a saved index when told to: `python -m harness.reader FOLDER SMALL EVENTS`.

It reads commands from standard input, a line each, and answers each with a line of JSON: `pss` with its proportional
memory, in all and of the index in that folder; `open` with the seconds that opening took, those of the first batch, and
how many matches there were.
"""

import json
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from time import perf_counter
from typing import Any

import pyarrow as pa

import tamis
from harness.clock import mapped_bytes, proportional_bytes


class Reader:
    """The other end: such a process, as its parent sees it."""

    def __init__(self, folder: Path, small: Path, events: Path) -> None:
        command = [sys.executable, "-m", "harness.reader", str(folder), str(small), str(events)]
        home = Path(__file__).parents[1]
        self._process = Popen(command, cwd=home, stdin=PIPE, stdout=PIPE, text=True)  # noqa: S603 - this file

    def ask(self, command: str) -> Any:
        """Send a command and return the answer."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the reader has no pipes")
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the reader ended with exit code {self._process.wait()} when asked to {command}")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main(folder: str, small: str, events: str) -> None:
    """Answer commands until there are no more."""
    with pa.OSFile(events) as file:
        table = pa.ipc.open_file(file).read_all()
    # A small index has all code loaded before memory is looked at.
    index = tamis.Index.open(small)
    index.match_batch(table)
    for line in sys.stdin:
        if line.strip() == "pss":
            answer: dict[str, float] = {"bytes": proportional_bytes(), "mapped": mapped_bytes(folder)}
        else:
            start = perf_counter()
            index = tamis.Index.open(folder)
            opened = perf_counter()
            matches = len(index.match_batch(table))
            answer = {"open": opened - start, "first": perf_counter() - opened, "matches": matches}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
