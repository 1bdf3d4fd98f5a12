"""Arbitrary expressions: match time against the number of dimensions (specs/002 §9.5)."""

from typing import Final

from tamis.lab.arbitrary import ARBITRARY, abe_gen_grid
from tamis.lab.claim import Claim
from tamis.lab.contest import contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: The curves are lost; that the A-Tree leads is what the text says of all of them.
CLAIMS: Final = (
    *(Claim(kind="ABE-Gen", at=dimensions, engine="atree", paper=1) for dimensions in (100, 1_000, 30_000)),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    points = abe_gen_grid(context.scale, "dimensions", (100, 1_000, 30_000))
    return contest(context, points, CLAIMS, "dimensions", league=ARBITRARY)


EXPERIMENT: Final = Experiment(
    id="002-abe-dimensions",
    title="Arbitrary expressions: match time against the number of dimensions",
    source="specs/002 §9.5 (thesis L1782-1901)",
    setup="ABE-Gen with 100 to 30,000 dimensions; events have 20 attributes.",
    run=run,
    grid="timed",
)
