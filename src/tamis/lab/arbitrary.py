"""Engines for arbitrary expressions compared: what the experiments of specs/002 §9.5 have in common."""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from time import process_time
from typing import Any, Final

import msgspec
import numpy as np

import tamis
from tamis.compiled import kernel
from tamis.lab.contest import League, Point, point
from tamis.lab.experiment import Scale
from tamis.lab.trial import SCAN, Trial, one_thread
from tamis.lab.workloads import AbeGen, Spec, Workload, generate
from tamis.language import Expression
from tamis.matching.algorithms.atree import ATree
from tamis.matching.algorithms.occurrences import holds
from tamis.matching.algorithms.threevalued import PlainATree
from tamis.matching.engine import make_engine
from tamis.matching.ranks.arbitrary import ArbitraryEngine
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded, encode
from tamis.matching.ranks.kernels import CANDIDATES, Predicates, enter, leave
from tamis.matching.ranks.lists import Ints, Lists, Longs, View
from tamis.matching.ranks.rank_engine import RankEngine

#: Expressions where their number is not what is swept. The thesis has 1,000,000.
EXPRESSIONS: Final = {Scale.QUICK: 2_000, Scale.FULL: 30_000}


class FormScan(ArbitraryEngine):
    """SCAN (specs/002 §8) for arbitrary expressions: evaluates every form on every event."""

    def __init__(self) -> None:
        super().__init__()
        self._written = Lists()
        self._longest = 0

    def store(self, positions: Ints, offsets: Longs, codes: Longs) -> None:
        self._written.extend(np.repeat(positions, np.diff(offsets)), codes)
        self._longest = max(self._longest, int(np.diff(offsets).max(initial=0)))

    def forget(self, position: int) -> list[int]:  # noqa: ARG002 - no trial removes anything
        raise TypeError("the compiled scan is not dynamic")

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        written, truths = self._written.view(), self.scratch("truths", 2 * self._longest)
        return _scan(first, last, events, written, self.predicates(), self.ranks(), truths, self.top, ends, out, work)

    def extra_bytes(self) -> int:
        return self._written.bytes


@kernel
def _scan(
    first: int,
    last: int,
    events: Encoded,
    written: View,
    predicates: Predicates,
    ranks: Ints,
    truths: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        enter(row, events, predicates.rank, ranks)
        for position in range(min(top, len(written.size))):
            start, size = written.start[position], written.size[position]
            if size:
                work[CANDIDATES] += 1
                if holds(written.data, start, start + size, ranks, predicates, truths, work):
                    out[used] = position
                    used += 1
        leave(row, events, ranks)
        ends[row] = used
    return last


#: What is not registered as an engine.
MAKERS: Final[Mapping[str, Callable[[], ArbitraryEngine]]] = {
    SCAN: FormScan,
    "plain": PlainATree,
    "suppressed": lambda: ATree(demand=False, words=False),
    "demand": lambda: ATree(words=False),
}


@dataclass(frozen=True, eq=False)
class Expressions:
    """A workload of parsed expressions and events."""

    expressions: Sequence[Expression]
    events: Sequence[dict[str, Any]]


class ArbitraryLeague(League):
    """Engines that are each built from the parsed expressions."""

    def prepare(self, spec: Spec[Workload], seed: int) -> Expressions:
        """Generate a workload and parse it."""
        workload = generate(spec, seed)
        return Expressions(
            [tamis.parse(text) for text in workload.conditions.texts().to_pylist()], list(workload.events.rows())
        )

    def attempt(self, name: str, task: Expressions) -> Trial:
        """Build an engine, match the events, and let go of it again."""
        _warm_up(name)
        gc.collect()
        started = process_time()
        engine = build(name, task.expressions)
        build_seconds = process_time() - started
        events = encode(engine.space, task.events)
        before = engine.stats()
        best, passes, matches = one_thread(engine.match_encoded, events)
        after = engine.stats()
        total = passes * events.rows
        return Trial(
            ground_seconds=0.0,
            build_seconds=build_seconds,
            match_microseconds=1e6 * best / events.rows,
            candidates=(after["candidates"] - before["candidates"]) / total,
            tests=(after["predicate_tests"] - before["predicate_tests"]) / total,
            total_bytes=after["bytes"],
            own_bytes=after["bytes"] - engine.space.bytes,
            matches=matches.tolist(),
        )


def build(name: str, expressions: Sequence[Expression]) -> RankEngine:
    """Return an engine that holds the expressions."""
    engine = MAKERS[name]() if name in MAKERS else make_engine(name)
    assert isinstance(engine, RankEngine)
    engine.add_many(range(len(expressions)), expressions)
    # Some engines build only when they are asked.
    engine.match({})
    return engine


@cache
def _warm_up(name: str) -> None:
    """Let kernels be compiled before they are timed: on enough for engines that build many at once in another way."""
    conjunctive = isinstance(make_engine(name), ConjunctiveEngine) if name not in MAKERS else False
    texts = [
        f"a = {number} and b > {number % 7}" if conjunctive else f"(a = {number} or b > 1) and (c < 5 or not d = 2)"
        for number in range(600)
    ]
    engine = build(name, [tamis.parse(text) for text in texts])
    engine.match_encoded(encode(engine.space, [{"a": 1, "b": 3, "c": 3}]))


ARBITRARY: Final = ArbitraryLeague(
    (SCAN, "translation", "bdd", "dewey", "interval", "bop", "atree"),
    {SCAN: 300_000},
    "All engines work on conditions without negation, and all but Translation, which is an OpIndex, ask the same index "
    "which predicates an event meets. BDD and Translation evaluate expressions that would take them too many nodes or "
    "conjunctions. Candidates are expressions looked at, for the A-Tree nodes evaluated; tests are the predicates, "
    "labels or children read for that; both are means per event. To build means to go from parsed expressions to an "
    "engine that can match; what SCAN takes for that, to write the forms, is common to all but Translation. Memory in "
    "all counts every array and table of an engine; own memory leaves out rank space.",
)


def abe_gen(scale: Scale, parameter: str, values: Iterable[float]) -> list[Point]:
    """Return ABE-Gen's default with one parameter set to each of the values."""
    return [
        point(
            "ABE-Gen",
            value,
            msgspec.structs.replace(AbeGen(), **{"subscriptions": EXPRESSIONS[scale], parameter: value}),
            scale,
        )
        for value in values
    ]


def abe_gen_grid(scale: Scale, parameter: str, quick: Sequence[float]) -> list[Point]:
    """Return ABE-Gen over the grid of the thesis, or over some values of it at scale quick."""
    return abe_gen(scale, parameter, quick if scale is Scale.QUICK else AbeGen.GRID[parameter])
