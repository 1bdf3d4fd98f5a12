"""All engines on advertisements as arbitrary expressions (specs/002 §9.5, Table 10.4.2)."""

import gc
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import tamis
from tamis.lab.arbitrary import ARBITRARY, build
from tamis.lab.claim import NAMES, Claim, Measure
from tamis.lab.contest import contest, point
from tamis.lab.experiment import Context, Experiment, Outcome, Scale, Table
from tamis.lab.workloads import ArbitraryAds, generate

#: The thesis has 1,392,196 expressions.
SIZES: Final[Mapping[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (1_000, 3_000, 10_000),
    Scale.FULL: (20_000, 60_000, 200_000),
}
_STATED: Final = 1_392_196
#: Expressions on which memory is measured a second time, by tracing every allocation, which takes long.
TRACED: Final = {Scale.QUICK: 2_000, Scale.FULL: 20_000}
_MEGABYTE: Final = 1e6
#: Milliseconds, seconds and megabytes of Table 10.4.2.
TABLE: Final[Mapping[Measure, Mapping[str, float]]] = {
    "match_microseconds": {
        "atree": 0.27,
        "translation": 7.1,
        "bdd": 7.8,
        "interval": 17.9,
        "bop": 18.9,
        "dewey": 19.5,
        "SCAN": 994.1,
    },
    "build_seconds": {"atree": 12.3, "bop": 41.9, "interval": 61.2, "dewey": 68.8, "bdd": 238.3, "translation": 588.2},
    "total_bytes": {"atree": 509, "bop": 1_456, "bdd": 4_310, "interval": 4_432, "dewey": 4_640, "translation": 25_822},
}
CLAIMS: Final = (
    *(
        Claim(kind="ads", at=_STATED, engine=engine, paper=place, measure=measure)
        for measure, column in TABLE.items()
        for place, engine in enumerate(column, start=1)
    ),
    *(
        Claim(
            kind="ads",
            at=_STATED,
            engine="atree",
            against=other,
            paper=column["atree"] / column[other],
            measure=measure,
            good="order",
        )
        for measure, column in TABLE.items()
        for other in column
        if other != "atree"
    ),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every size, and check how memory is counted."""
    points = [point("ads", size, ArbitraryAds(subscriptions=size), context.scale) for size in SIZES[context.scale]]
    outcome = contest(context, points, CLAIMS, "expressions", league=replace(ARBITRARY, caps={}))
    outcome.tables.append(_memory(context))
    return outcome


def _memory(context: Context) -> Table:
    """Return what engines say that they take beside what was allocated while they were built."""
    workload = generate(ArbitraryAds(subscriptions=TRACED[context.scale], events=1), context.seed)
    expressions = [tamis.parse(text) for text in workload.conditions.texts().to_pylist()]
    rows: list[list[str | float | None]] = []
    for name in ARBITRARY.engines:
        gc.collect()
        tracemalloc.start()
        engine = build(name, expressions)
        gc.collect()
        traced, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        rows.append([NAMES[name], engine.stats()["bytes"] / _MEGABYTE, traced / _MEGABYTE, peak / _MEGABYTE])
    return Table(
        f"Memory of {len(expressions):,} expressions, counted and traced",
        ["engine", "counted, MB", "traced, MB", "traced at most while building, MB"],
        rows,
    )


EXPERIMENT: Final = Experiment(
    id="002-abe-ads",
    title="All engines on advertisements as arbitrary expressions",
    source="specs/002 §9.5, Table 10.4.2 (thesis L1782-1901)",
    setup="Advertisements of 1 to 56 predicates, 8 on average, over 122 dimensions: an audience (`=` or `in`) and "
    "alternatives, some of them negated; events of 20 attributes. The data of the thesis are private: ours are made to "
    "its means, and how selective they are is our choice, on which the ratios depend. Memory is counted: all arrays "
    "and tables of an engine; a second table sets it against all memory allocated by Python, NumPy included, while the "
    "engine was built, as `tracemalloc` has it.",
    run=run,
)
