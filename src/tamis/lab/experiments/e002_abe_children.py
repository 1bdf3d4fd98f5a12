"""Arbitrary expressions: match time against the number of children (specs/002 §9.5)."""

from typing import Final

from tamis.lab.arbitrary import ARBITRARY, abe_gen_grid
from tamis.lab.claim import Claim
from tamis.lab.contest import contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "Translation out of memory at 6 children, BDD at 8": the A-Tree is left ahead.
CLAIMS: Final = (*(Claim(kind="ABE-Gen", at=children, engine="atree", paper=1) for children in (4, 8)),)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    points = abe_gen_grid(context.scale, "children", (2, 4, 6, 8))
    return contest(context, points, CLAIMS, "children", league=ARBITRARY)


EXPERIMENT: Final = Experiment(
    id="002-abe-children",
    title="Arbitrary expressions: match time against the number of children",
    source="specs/002 §9.5 (thesis L1782-1901)",
    setup="ABE-Gen with 2 to 12 children of each `and` and `or`; an expression of more than 256 conjunctions is not "
    "translated but evaluated.",
    run=run,
    grid="timed",
)
