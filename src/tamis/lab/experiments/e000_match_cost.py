"""What does it cost to find out whether any subscription matches? Table 3.1 of the thesis (specs/000 §3)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any, Final

import msgspec
import numpy as np

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.trial import Task, built, one_thread, task_of
from tamis.lab.workloads import Conjunctions, Shen, generate
from tamis.lab.workloads.conjunctions import ranges

#: Density -> microseconds of a content-match by counting and by K-d tree. A key lookup takes 0.73.
TABLE: Final[Mapping[float, Mapping[str, float]]] = {
    0.01: {"counting": 720, "kdtree": 144},
    0.05: {"counting": 391, "kdtree": 77},
    0.15: {"counting": 177, "kdtree": 42},
}
KEY_LOOKUP: Final = 0.73
NAMES: Final = {"counting": "counting", "kdtree": "K-d tree"}
#: Subscriptions, as many as in the thesis, and events.
SIZES: Final = {Scale.QUICK: (10_000, 200), Scale.FULL: (10_000, 1_000)}
#: [ours] The boxes' ends are rounded to so many decimals, so that subscriptions share predicates.
DECIMALS: Final = 3


class Cost(msgspec.Struct, frozen=True):
    """What a search costs, per event: microseconds, candidates, predicate tests, subscriptions found."""

    microseconds: float
    candidates: float
    tests: float
    found: float


def run(context: Context) -> Outcome:
    """Search until the first match, as the thesis does, and for all matches, by both algorithms at every density."""
    subscriptions, events = SIZES[context.scale]
    first: dict[tuple[str, float], Cost] = {}
    whole: dict[tuple[str, float], Cost] = {}
    for done, density in enumerate(TABLE):
        context.progress(done, len(TABLE))
        spec = Shen(subscriptions=subscriptions, events=events, distribution="norm-1", density=density)
        task = _task(spec, context.seed)
        for name in NAMES:
            first[name, density], whole[name, density] = _costs(name, task)
    context.progress(len(TABLE), len(TABLE))
    lookup = _key_lookup(subscriptions, context.seed)
    return Outcome(
        rows=_rows(first, lookup),
        figure=Figure("density, %", "time per event, µs", _series(first, whole, lookup), log=True),
        notes=[
            f"{subscriptions:,} subscriptions, {events:,} events, norm-1: the thesis does not name the distribution "
            "of this table; its Figure 3.1(a) has norm-1.",
            "Processor times of one thread for events that are already in rank space.",
            f"The ends of the boxes are rounded to {DECIMALS} decimals, so that subscriptions share predicates.",
            "The key lookup is that of a Python set of 32-bit keys.",
            "The thesis does not say that a search ends at the first match, but its figures fall with the density; a "
            "search for all matches is in the table below.",
            "Until the first match, counting counts "
            + ", ".join(f"{first['counting', each].tests:,.0f} at {each:.0%}" for each in TABLE)
            + " met predicates per event. Attribute by attribute, no subscription is complete before the last of its "
            "five, so ours can only end early within that one.",
        ],
        tables=[_table("Until the first match", first), _table("All matches", whole)],
    )


def _task(spec: Shen, seed: int) -> Task:
    workload = generate(spec, seed)
    conditions = workload.conditions
    assert isinstance(conditions, Conjunctions)
    boxes = ranges(*(np.round(ends, DECIMALS) for ends in (conditions.predicates.low, conditions.predicates.high)))
    return task_of(replace(conditions, predicates=boxes).texts(), list(workload.events.rows()))


def _costs(name: str, task: Task) -> tuple[Cost, Cost]:
    """Return the cost of a search until the first match, and of one for all matches."""
    engine: Any = built(name, task)
    # `find` would put each event into rank space by itself, which takes longer than the search.
    existence = partial(engine.match_up_to, 1)
    found = []
    for match in (existence, engine.match_encoded):
        match(task.events)
        before = engine.stats()
        seconds, passes, matches = one_thread(match, task.events)
        after = engine.stats()
        total = passes * task.events.rows
        found.append(
            Cost(
                microseconds=1e6 * seconds / task.events.rows,
                candidates=(after["candidates"] - before["candidates"]) / total,
                tests=(after["predicate_tests"] - before["predicate_tests"]) / total,
                found=float(matches.mean()),
            )
        )
    return found[0], found[1]


def _key_lookup(subscriptions: int, seed: int) -> float:
    """Return the microseconds that it takes to see whether a key is in a hash table."""
    numbers = np.random.default_rng(seed).integers(1 << 32, size=2 * subscriptions).tolist()
    keys, asked = set(numbers[:subscriptions]), numbers * 20
    started = process_time()
    for key in asked:
        key in keys  # noqa: B015 - looking it up is all that is measured
    return 1e6 * (process_time() - started) / len(asked)


def _rows(first: Mapping[tuple[str, float], Cost], lookup: float) -> list[Row]:
    rows = [Row("key lookup", lookup, KEY_LOOKUP, "µs", good="smaller")]
    for density, paper in TABLE.items():
        times = {name: first[name, density].microseconds for name in NAMES}
        rows += [Row(f"{density:.0%}: {NAMES[name]}", times[name], paper[name], "µs", good="smaller") for name in NAMES]
        rows += [
            Row(
                f"{density:.0%}: K-d tree / counting",
                times["kdtree"] / times["counting"],
                paper["kdtree"] / paper["counting"],
                good="order",
            ),
            *(
                Row(
                    f"{density:.0%}: {NAMES[name]} / key lookup",
                    times[name] / lookup,
                    paper[name] / KEY_LOOKUP,
                    good="order",
                )
                for name in NAMES
            ),
        ]
    low, high = min(TABLE), max(TABLE)
    return rows + [
        Row(
            f"{NAMES[name]}: {high:.0%} / {low:.0%}",
            first[name, high].microseconds / first[name, low].microseconds,
            TABLE[high][name] / TABLE[low][name],
            good="order",
        )
        for name in NAMES
    ]


def _series(
    first: Mapping[tuple[str, float], Cost], whole: Mapping[tuple[str, float], Cost], lookup: float
) -> list[Series]:
    x = [100 * density for density in TABLE]
    return [
        *(
            Series(f"{NAMES[name]}, {what}", x, [costs[name, density].microseconds for density in TABLE])
            for what, costs in (("first match", first), ("all matches", whole))
            for name in NAMES
        ),
        Series("key lookup", x, [lookup] * len(x)),
    ]


def _table(title: str, costs: Mapping[tuple[str, float], Cost]) -> Table:
    return Table(
        title,
        ["density", "engine", "µs", "candidates", "predicate tests", "found"],
        [
            [f"{density:.0%}", NAMES[name], cost.microseconds, cost.candidates, cost.tests, cost.found]
            for (name, density), cost in costs.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    id="000-match-cost",
    title="The cost of a content-match",
    source="specs/000 §3, Table 3.1 (thesis L382-388)",
    setup="Boxes of five attributes of which an event meets 1, 5 or 15 %; the question is whether it meets any.",
    run=run,
)
