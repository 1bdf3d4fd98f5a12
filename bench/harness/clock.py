"""How time and memory are measured: CPU seconds of this process, the best of several passes, on chosen cores."""

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Final

import numpy as np

#: Passes of which the fastest counts: as many for whoever is measured.
PASSES: Final = 3
_TASKS: Final = Path("/proc/self/task")
_STATM: Final = Path("/proc/self/statm")
_PSS: Final = "Pss:"


def best_seconds(work: Callable[[], object], clock: Callable[[], float] = process_time) -> float:
    """Return the time of the fastest of three passes, as the probes do."""
    gc.collect()
    times: list[float] = []
    for _ in range(PASSES):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


@contextmanager
def on_cores(count: int) -> Iterator[bool]:
    """Keep every thread of this process on so many cores; False where there are not so many."""
    allowed = os.sched_getaffinity(0)
    # The last cores: the first ones also serve the interrupts of most machines.
    _pin(set(sorted(allowed)[-count:]))
    try:
        yield len(allowed) >= count
    finally:
        _pin(allowed)


def _pin(cores: set[int]) -> None:
    # A thread has its own affinity: those that an index keeps at work must move with the one that calls.
    for task in _TASKS.iterdir():
        try:
            os.sched_setaffinity(int(task.name), cores)
        except ProcessLookupError:
            continue


def percentiles(nanoseconds: Sequence[int], wanted: Sequence[float]) -> list[float]:
    """Return percentiles in microseconds."""
    return [float(each) for each in np.percentile(np.asarray(nanoseconds), wanted) / 1_000]


def resident_bytes() -> int:
    """Return how much of this process is in memory."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def proportional_bytes(process: int | str = "self") -> int:
    """Return the memory of a process, every page divided by how many processes share it (PSS)."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith(_PSS):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/{process}/smaps_rollup has no line {_PSS!r}")


def mapped_bytes(folder: str) -> int:
    """Return how much of this process is mapped from files in a folder, every page divided by how many share it."""
    total, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, *rest = line.split(maxsplit=5)
        if not name.endswith(":"):
            inside = len(rest) == 5 and rest[-1].startswith(folder)
        elif inside and name == _PSS:
            total += int(rest[0]) * 1024
    return total


def available_bytes() -> int:
    """Return how much memory may still be used."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/meminfo does not tell what is available")
