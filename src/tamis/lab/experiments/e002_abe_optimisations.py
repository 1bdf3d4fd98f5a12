"""The A-Tree with and without zero suppression and propagation on demand (specs/002 §9.5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from tamis.lab.arbitrary import ARBITRARY, abe_gen
from tamis.lab.claim import Claim
from tamis.lab.contest import contest, point
from tamis.lab.experiment import Context, Experiment, Outcome, Scale
from tamis.lab.workloads import BE_GEN_A_TREE

SIZES: Final[Mapping[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (1_000, 3_000, 10_000),
    Scale.FULL: (10_000, 30_000, 100_000),
}
LEAGUE: Final = replace(ARBITRARY, engines=("plain", "suppressed", "demand", "atree"))
#: "zero suppression up to -85 %; propagation on demand up to -92 % (conjunctive)". Evaluations are to fall by half at
#: least with each of them; the words of needed attributes are ours.
CLAIMS: Final = tuple(
    claim
    for at, kind, stages in (
        (1_000_000, "ABE-Gen", (("suppressed", "plain", 0.15), ("demand", "suppressed", 0.5))),
        (10_000_000, "conjunctions", (("suppressed", "plain", 0.15), ("demand", "suppressed", 0.08))),
    )
    for engine, against, paper in stages
    for claim in (
        Claim(kind=kind, at=at, engine=engine, against=against, paper=0.5, measure="candidates", good="smaller"),
        Claim(kind=kind, at=at, engine=engine, against=against, paper=paper, good="smaller"),
    )
)


def run(context: Context) -> Outcome:
    """Compare the stages at every size."""
    sizes = SIZES[context.scale]
    points = abe_gen(context.scale, "subscriptions", sizes) + [
        point("conjunctions", size, msgspec.structs.replace(BE_GEN_A_TREE, subscriptions=size), context.scale)
        for size in sizes
    ]
    return contest(context, points, CLAIMS, "expressions", "candidates", league=LEAGUE)


EXPERIMENT: Final = Experiment(
    id="002-abe-optimisations",
    title="Zero suppression and propagation on demand",
    source="specs/002 §9.5 (thesis L1782-1901)",
    setup="ABE-Gen at its defaults, and conjunctions of 6 predicates over 1,000 dimensions; events of 20 attributes. "
    "Each stage has what the one before has: plain matching, zero suppression, propagation on demand, and in the last, "
    "which is the engine `atree`, words of needed attributes.",
    run=run,
    grid="timed",
)
