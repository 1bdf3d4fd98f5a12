"""One engine put to one task: how long it takes to build and to match, and how much work that is."""

import gc
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from time import process_time
from typing import Any, Final

import msgspec
import numpy as np

import tamis
from tamis.lab.workloads import Spec, Workload, generate
from tamis.matching.engine import Rows, make_engine
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded, encode
from tamis.matching.ranks.kernels import scan
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.rank_engine import ROWS_PER_THREAD

#: The compiled scan, which only the lab has.
SCAN: Final = "SCAN"
#: Passes over the events, of which the fastest counts: so many, more if they took less than the least time, and none
#: is begun after the enough.
PASSES: Final = 5
LEAST_SECONDS: Final = 0.05
ENOUGH_SECONDS: Final = 1.0
#: Conditions parsed at once, so that there are never a million syntax trees.
_CHUNK: Final = 1 << 14
#: What kernels are compiled on before they are timed: enough for engines that build many at once in another way.
_WARM_UP: Final = [
    f"{condition} and d = {number}"
    for number in range(250)
    for condition in ("a = 1 and b < 5", "a in (1, 3) and c <> 2", "b between 2 and 4 and c not in (1, 2)", "c >= 3")
]


class CompiledScan(ConjunctiveEngine):
    """SCAN (specs/002 §8) in the rank space and with the predicate test of the other engines: a fair floor.

    It remembers how its rank space came about, so that other engines can be built on the same one.
    """

    def insert(self, position: int, predicates: list[int]) -> None:
        pass

    def insert_many(self, positions: Ints) -> None:
        pass

    def delete(self, position: int, predicates: list[int]) -> None:  # noqa: ARG002 - no trial removes anything
        raise TypeError("the compiled scan is not dynamic")

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        positions = np.arange(self.top, dtype=np.int32)
        return scan(first, last, events, positions, self.held.view(), self.predicates(), self.ranks(), ends, out, work)


@dataclass(frozen=True, eq=False)
class Task:
    """A workload in rank space: conjunctions, in `ground`, and events. All engines that are compared share it."""

    ground: CompiledScan
    events: Encoded
    #: What it took to put the parsed conditions into rank space.
    seconds: float


class Trial(msgspec.Struct, frozen=True):
    """What one engine took for one task. Times are processor times of one thread; work is a mean per event."""

    #: To put the conditions into rank space, the same for all engines, and then to build the engine's structure.
    ground_seconds: float
    build_seconds: float
    match_microseconds: float
    candidates: float
    tests: float
    #: Of everything, and of what the engine keeps beside rank space and the predicates of each subscription.
    total_bytes: int
    own_bytes: int
    #: For each event, how many subscriptions it met.
    matches: list[int]


def prepare(spec: Spec[Workload], seed: int) -> Task:
    """Generate a workload and put it into rank space."""
    workload = generate(spec, seed)
    return task_of(workload.conditions.texts(), list(workload.events.rows()))


def task_of(texts: Sequence[Any], events: Sequence[dict[str, Any]]) -> Task:
    """Put conditions, strings of Python or of Arrow, and events into rank space."""
    ground = CompiledScan()
    seconds = 0.0
    for first in range(0, len(texts), _CHUNK):
        expressions = [tamis.parse(str(text)) for text in texts[first : first + _CHUNK]]
        started = process_time()
        ground.add_many(range(first, first + len(expressions)), expressions)
        seconds += process_time() - started
    return Task(ground, encode(ground.space, events), seconds)


def try_engine(name: str, task: Task) -> Trial:
    """Build an engine, match the events, and let go of it again."""
    _warm_up(name)
    gc.collect()
    # What events have hit before would tell an engine which predicates are selective.
    task.ground.space.hits[:] = 0
    started = process_time()
    engine = built(name, task)
    build_seconds = process_time() - started
    before = engine.stats()
    best, passes, matches = one_thread(engine.match_encoded, task.events)
    after = engine.stats()
    total = passes * task.events.rows
    return Trial(
        ground_seconds=task.seconds,
        build_seconds=build_seconds,
        match_microseconds=1e6 * best / task.events.rows,
        candidates=(after["candidates"] - before["candidates"]) / total,
        tests=(after["predicate_tests"] - before["predicate_tests"]) / total,
        total_bytes=after["bytes"],
        own_bytes=engine.extra_bytes(),
        matches=matches.tolist(),
    )


@cache
def _warm_up(name: str) -> None:
    built(name, task_of(_WARM_UP, [{"a": 1, "b": 3, "c": 3, "d": 1}]))


def built(name: str, task: Task) -> ConjunctiveEngine:
    """Return a registered engine, or the compiled scan, that holds the task."""
    if name == SCAN:
        return task.ground
    engine = make_engine(name)
    assert isinstance(engine, ConjunctiveEngine)
    fill(engine, task)
    return engine


def fill(engine: ConjunctiveEngine, task: Task) -> None:
    """Put a task into an empty engine: what `ConjunctiveEngine.add_many` does once all is in rank space.

    The parts of an engine hold on to its space and lists, so these are filled, not replaced. Rank space is shared; the
    lists are copied because engines put predicates into an order of their own. One event is matched because some
    engines build only then.
    """
    ground = task.ground
    vars(engine.space).update(vars(ground.space))
    vars(engine.held).update(deepcopy(vars(ground.held)))
    engine.top = ground.top
    engine.insert_many(np.arange(ground.top, dtype=np.int32))
    engine.match_encoded(rows_of(task.events, 0, 1))


def one_thread(match: Callable[[Encoded], Rows], events: Encoded) -> tuple[float, int, Longs]:
    """Match events in pieces too small for a second thread.

    Returns the seconds of the fastest pass, the number of passes, and how many subscriptions each event met.
    """
    pieces = [rows_of(events, first, first + ROWS_PER_THREAD) for first in range(0, events.rows, ROWS_PER_THREAD)]
    seconds: list[float] = []
    while sum(seconds) < (ENOUGH_SECONDS if len(seconds) < PASSES else LEAST_SECONDS):
        started = process_time()
        found = [match(piece) for piece in pieces]
        seconds.append(process_time() - started)
    return min(seconds), len(seconds), np.concatenate([np.diff(offsets) for offsets, _ in found])


def rows_of(events: Encoded, first: int, last: int) -> Encoded:
    """Return the events from first to before last."""
    offsets = events.offsets[first : last + 1]
    part = slice(offsets[0], offsets[-1])
    return Encoded(offsets - offsets[0], events.dimensions[part], events.leaves[part])
