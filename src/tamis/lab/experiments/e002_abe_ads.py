"""All engines on advertisements as arbitrary expressions (specs/002 §9.5, Table 10.4.2)."""

import gc
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import msgspec

import tamis
from tamis.lab.arbitrary import ARBITRARY, build
from tamis.lab.claim import NAMES, Claim, Measure
from tamis.lab.contest import contest, point
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Table
from tamis.lab.workloads import ArbitraryAds, generate

#: How selective the advertisements of the thesis are is not known, nor how many of them are the same: ours, others of
#: which none is there twice, and such that an event meets far more of.
KINDS: Final[Mapping[str, ArbitraryAds]] = {
    "ads": ArbitraryAds(repeats=3),
    "different ads": ArbitraryAds(),
    "broad ads": ArbitraryAds(audience=False, cardinality=50),
}
#: The thesis has 1,392,196 expressions.
SIZES: Final[Mapping[str, Mapping[Scale, tuple[int, ...]]]] = {
    "ads": {Scale.QUICK: (1_000, 3_000, 10_000), Scale.FULL: (20_000, 60_000, 200_000)},
    "different ads": {Scale.QUICK: (1_000, 3_000, 10_000), Scale.FULL: (20_000, 60_000, 200_000)},
    "broad ads": {Scale.QUICK: (1_000, 3_000, 10_000), Scale.FULL: (20_000, 60_000)},
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
    """Compare the engines at every size of all kinds, and check how memory is counted."""
    points = [
        point(kind, size, msgspec.structs.replace(spec, subscriptions=size), context.scale)
        for kind, spec in KINDS.items()
        for size in SIZES[kind][context.scale]
    ]
    outcome = contest(context, points, CLAIMS, "expressions", league=replace(ARBITRARY, caps={}))
    outcome.rows.extend(_leads(outcome.figure))
    outcome.tables.append(_memory(context))
    return outcome


def _leads(figure: Figure) -> Iterator[Row]:
    """Yield how the A-Tree's match time compares with that of the best other engine, wherever they were run."""
    for kind in KINDS:
        panel = [series for series in figure.series if series.panel == kind]
        (ours,) = (series for series in panel if series.name == NAMES["atree"])
        for size, time in zip(ours.x, ours.y, strict=True):
            best, name = min((other.y[other.x.index(size)], other.name) for other in panel if other is not ours)
            yield Row(f"{kind}, {size:,}: A-Tree / {name}, the best of the others, match time", time / best)


def _memory(context: Context) -> Table:
    """Return what engines say that they take beside what was allocated while they were built."""
    spec = msgspec.structs.replace(KINDS["ads"], subscriptions=TRACED[context.scale], events=1)
    workload = generate(spec, context.seed)
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
    setup="Advertisements of 1 to 56 predicates, 8 on average, over 122 dimensions: alternatives that must all be "
    "met, some of them negated; events of 20 attributes. The data of the thesis are private: ours are made to its "
    "means, but how selective they are and how often the same one occurs is our choice, and the ratios depend on it. "
    "`ads` ask for an audience first (`=` or `in`) and have 1,000 values, so that an event meets about 0.3 % of "
    "them: the times of the thesis leave no room for many more. Each of them occurs four times: the thesis says "
    "(L1901) that in its data predicates, subexpressions and expressions are duplicated many times, and that this is "
    "why the A-Tree is built fastest. How often, its own figures suggest: with five repeats it takes 23 % of BoP's "
    "build time, on the advertisements 29 %. If each different expression takes the same share, these are 3.7 repeats "
    "(by memory 3.1, if its 76 % are against BoP, which it does not say); ours are three. Of `different ads` each "
    "occurs once; where all are "
    "different, the thesis (L1884) finds the A-Tree, BoP and Interval ID built in very similar times. `broad ads` "
    "have no audience and 50 values, and an event meets about 5 %. The thesis has no figures for them, and the lead "
    "of the A-Tree there is far smaller, as the last rows of the first table show. Memory is counted: all arrays and "
    "tables of an engine; a second table sets it against all memory allocated by Python, NumPy included, while the "
    "engine was built, as `tracemalloc` has it.",
    run=run,
    grid="timed",
)
