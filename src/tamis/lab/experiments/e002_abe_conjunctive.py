"""Engines for arbitrary expressions on conjunctions (specs/002 §9.5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from tamis.lab.arbitrary import ARBITRARY
from tamis.lab.claim import Claim
from tamis.lab.contest import contest, point
from tamis.lab.experiment import Context, Experiment, Outcome, Scale
from tamis.lab.workloads import BE_GEN_A_TREE

SIZES: Final[Mapping[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (1_000, 3_000, 10_000),
    Scale.FULL: (30_000, 100_000, 300_000),
}
LEAGUE: Final = replace(ARBITRARY, engines=("opindex", "betree", "bdd", "dewey", "interval", "bop", "atree"))
#: "Build: BoP fastest at 30K; at 10M A-Tree -71.1 % vs OpIndex; matching: OpIndex best, A-Tree ≈ BE-Tree >> BoP ≈ BDD >
#: Interval ≈ Dewey; A-Tree memory falls below BE-Tree by 10M".
CLAIMS: Final = (
    Claim(kind="conjunctions", at=30_000, engine="bop", paper=1, measure="build_seconds"),
    Claim(
        kind="conjunctions",
        at=10_000_000,
        engine="atree",
        against="opindex",
        paper=0.289,
        measure="build_seconds",
        good="smaller",
    ),
    Claim(kind="conjunctions", at=10_000_000, engine="opindex", paper=1),
    Claim(kind="conjunctions", at=10_000_000, engine="atree", against="betree", paper=1, good="order"),
    Claim(kind="conjunctions", at=10_000_000, engine="bop", against="bdd", paper=1, good="order"),
    Claim(kind="conjunctions", at=10_000_000, engine="interval", against="dewey", paper=1, good="order"),
    *(
        Claim(kind="conjunctions", at=10_000_000, engine="atree", against=other, paper=1, good="smaller")
        for other in ("bop", "bdd", "interval", "dewey")
    ),
    Claim(
        kind="conjunctions",
        at=10_000_000,
        engine="atree",
        against="betree",
        paper=1,
        measure="total_bytes",
        good="smaller",
    ),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every size."""
    points = [
        point("conjunctions", size, msgspec.structs.replace(BE_GEN_A_TREE, subscriptions=size), context.scale)
        for size in SIZES[context.scale]
    ]
    return contest(context, points, CLAIMS, "subscriptions", league=LEAGUE)


EXPERIMENT: Final = Experiment(
    id="002-abe-conjunctive",
    title="Engines for arbitrary expressions on conjunctions",
    source="specs/002 §9.5 (thesis L1782-1901)",
    setup="BE-Gen: conjunctions of 6 predicates over 1,000 dimensions, uniform; events of 20 attributes.",
    run=run,
    grid="timed",
)
