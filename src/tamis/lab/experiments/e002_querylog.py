"""All engines on query logs (specs/002 §9.4)."""

from dataclasses import replace
from typing import Final

from tamis.lab.claim import Claim, Measure
from tamis.lab.contest import CONJUNCTIVE, contest, point
from tamis.lab.experiment import Context, Experiment, Outcome, Scale
from tamis.lab.workloads import QueryLog

#: The thesis has 2,100,000 subscriptions.
SIZES: Final = {Scale.QUICK: (1_000, 3_000, 10_000), Scale.FULL: (30_000, 100_000, 300_000)}
_STATED: Final = 2_100_000
#: "Match ranking: PSTBloom, OpIndex, PSTHash, BE-Tree, k-index, Propagation, SCAN; build ranking the same, with
#: PSTBloom ≈ OpIndex and BE-Tree ≈ k-index". A scan builds nothing.
RANKING: Final = ("pstbloom", "opindex", "psthash", "betree", "kindex", "propagation", "SCAN")
_MATCH: Final[Measure] = "match_microseconds"
_BUILD: Final[Measure] = "build_seconds"
CLAIMS: Final = (
    *(
        Claim(kind="query logs", at=_STATED, engine=engine, paper=place, measure=measure)
        for measure, ranking in ((_MATCH, RANKING), (_BUILD, RANKING[:-1]))
        for place, engine in enumerate(ranking, start=1)
    ),
    *(
        Claim(kind="query logs", at=_STATED, engine=engine, against=other, paper=1, measure=_BUILD, good="order")
        for engine, other in (("pstbloom", "opindex"), ("betree", "kindex"))
    ),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every size."""
    points = [point("query logs", size, QueryLog(subscriptions=size), context.scale) for size in SIZES[context.scale]]
    return contest(context, points, CLAIMS, "subscriptions", league=replace(CONJUNCTIVE, caps={}))


EXPERIMENT: Final = Experiment(
    id="002-querylog",
    title="All engines on query logs",
    source="specs/002 §9.4 (thesis L1674, L1762)",
    setup="Queries of 2.78 keywords on average, each an equality, over 17,577 dimensions; documents of 93.07 keywords. "
    "The logs of the thesis are not used: ours are made to its means.",
    run=run,
    grid="timed",
)
