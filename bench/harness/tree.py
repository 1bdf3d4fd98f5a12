"""Time and memory of a program with all processes that it started."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

#: Those that this program may use.
_CORES: Final = sorted(os.sched_getaffinity(0))
_TICKS: Final = os.sysconf("SC_CLK_TCK")
#: By number and start of a process: how long it was seen to have worked.
_ticks: dict[tuple[int, str], int] = {}


def processes() -> list[int]:
    """Return this process and all below it."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        fields = _stat(int(folder.name))
        if fields is not None:
            parents[int(folder.name)] = int(fields[1])
    found = [os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def tree_seconds() -> float:
    """Return the CPU seconds of all of them, and of those that have ended since, as far as was seen.

    What the system adds to a parent when a child ends is no help: Spark's workers have one that does not wait for them.
    """
    for process in processes():
        fields = _stat(process)
        if fields is not None:
            _ticks[process, fields[19]] = int(fields[11]) + int(fields[12])
    return sum(_ticks.values()) / _TICKS


def pin(cores: int) -> None:
    """Let all of them, and what they start from now on, run on the first so many cores only."""
    for process in processes():
        for thread in Path(f"/proc/{process}/task").glob("[0-9]*"):
            with suppress(OSError):
                os.sched_setaffinity(int(thread.name), set(_CORES[:cores]))


def mapped_in_tree(folder: str) -> tuple[int, int, int]:
    """Return what is mapped from files in a folder: each page once, as often as it is mapped, and by how many."""
    shared, alone, holders = 0, 0, 0
    for process in processes():
        inside, before = False, alone
        try:
            lines = Path(f"/proc/{process}/smaps").read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            name, *rest = line.split(maxsplit=5)
            if not name.endswith(":"):
                inside = len(rest) == 5 and rest[-1].startswith(folder)
            elif inside and name == "Pss:":
                shared += int(rest[0]) * 1024
            elif inside and name == "Rss:":
                alone += int(rest[0]) * 1024
        holders += alone > before
    return shared, alone, holders


def _stat(process: int) -> list[str] | None:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
