"""Arbitrary expressions: match time against repeats (specs/002 §9.5)."""

from typing import Final

from tamis.lab.arbitrary import ARBITRARY, abe_gen_grid
from tamis.lab.claim import Claim
from tamis.lab.contest import contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "5 repeats -> A-Tree -77 % build vs BoP; memory least: A-Tree at >= 2 repeats, BoP at the defaults".
CLAIMS: Final = (
    Claim(kind="ABE-Gen", at=5, engine="atree", against="bop", paper=0.23, measure="build_seconds", good="smaller"),
    Claim(kind="ABE-Gen", at=0, engine="bop", paper=1, measure="total_bytes"),
    Claim(kind="ABE-Gen", at=2, engine="atree", paper=1, measure="total_bytes"),
    Claim(kind="ABE-Gen", at=5, engine="atree", paper=1, measure="total_bytes"),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    points = abe_gen_grid(context.scale, "repeats", (0, 2, 5))
    return contest(context, points, CLAIMS, "repeats", league=ARBITRARY)


EXPERIMENT: Final = Experiment(
    id="002-abe-repeats",
    title="Arbitrary expressions: match time against repeats",
    source="specs/002 §9.5 (thesis L1782-1901)",
    setup="ABE-Gen with 0 to 5 further copies of every expression among as many expressions.",
    run=run,
    grid="timed",
)
