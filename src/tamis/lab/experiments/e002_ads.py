"""All engines on advertisements: Table 10.3.2 of the thesis (specs/002 §9.4)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tamis.lab.claim import Claim, Measure
from tamis.lab.contest import CONJUNCTIVE, contest, point
from tamis.lab.experiment import Context, Experiment, Outcome, Scale
from tamis.lab.workloads import Ads

#: The thesis has 3,000,000 subscriptions.
SIZES: Final = {Scale.QUICK: (1_000, 3_000, 10_000), Scale.FULL: (30_000, 100_000, 300_000)}
_STATED: Final = 3_000_000
#: Table 10.3.2: milliseconds to match an event, seconds to build, megabytes.
TABLE: Final[Mapping[Measure, Mapping[str, float]]] = {
    "match_microseconds": {
        "psthash": 0.24,
        "pstbloom": 0.82,
        "betree": 2.26,
        "opindex": 3.21,
        "propagation": 168.73,
        "SCAN": 435.27,
        "kindex": 616.42,
    },
    "build_seconds": {
        "pstbloom": 7.81,
        "psthash": 8.22,
        "betree": 13.70,
        "opindex": 24.92,
        "propagation": 62.43,
        "kindex": 140.76,
    },
    "own_bytes": {
        "propagation": 14.41,
        "pstbloom": 55.93,
        "betree": 393.21,
        "opindex": 574.38,
        "psthash": 759.72,
        "kindex": 7_320,
    },
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
            engine=engine,
            against="betree",
            paper=figure / column["betree"],
            measure=measure,
            good="order",
        )
        for measure, column in TABLE.items()
        for engine, figure in column.items()
        if engine != "betree"
    ),
    Claim(
        kind="ads",
        at=_STATED,
        engine="psthash",
        against="SCAN",
        paper=TABLE["match_microseconds"]["psthash"] / TABLE["match_microseconds"]["SCAN"],
        good="order",
    ),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every size."""
    points = [point("ads", size, Ads(subscriptions=size), context.scale) for size in SIZES[context.scale]]
    return contest(context, points, CLAIMS, "subscriptions", league=replace(CONJUNCTIVE, caps={}))


EXPERIMENT: Final = Experiment(
    id="002-ads",
    title="All engines on advertisements",
    source="specs/002 §9.4, Table 10.3.2 (thesis L1762-1780)",
    setup="Advertisements of 1 to 56 predicates, 8 on average, over 122 dimensions; events of 20 attributes. The "
    "data of the thesis are private: ours are made to its means. Figures are set against those of BE-Tree, since "
    "machine and size differ.",
    run=run,
    grid="timed",
)
