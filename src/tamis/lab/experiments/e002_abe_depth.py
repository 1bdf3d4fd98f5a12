"""Arbitrary expressions: match time against their depth (specs/002 §9.5)."""

from typing import Final

from tamis.lab.arbitrary import ARBITRARY, abe_gen_grid
from tamis.lab.claim import Claim
from tamis.lab.contest import contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "vs Translation -53 % (depth 1), -81 % (depth 3); Translation and BDD out of 128 GB at depth 4; memory least: A-Tree
#: at depth 1".
CLAIMS: Final = (
    Claim(kind="ABE-Gen", at=1, engine="atree", against="translation", paper=0.47, good="smaller"),
    Claim(kind="ABE-Gen", at=3, engine="atree", against="translation", paper=0.19, good="smaller"),
    Claim(kind="ABE-Gen", at=1, engine="atree", paper=1, measure="total_bytes"),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    points = abe_gen_grid(context.scale, "depth", (1, 2, 3, 4))
    return contest(context, points, CLAIMS, "depth", league=ARBITRARY)


EXPERIMENT: Final = Experiment(
    id="002-abe-depth",
    title="Arbitrary expressions: match time against their depth",
    source="specs/002 §9.5 (thesis L1782-1901)",
    setup="ABE-Gen with trees of depth 1 (a predicate) to 6; an expression of more than 256 conjunctions is not "
    "translated but evaluated.",
    run=run,
    grid="timed",
)
