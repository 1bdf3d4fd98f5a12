"""Arbitrary expressions: match time against the skew of attributes (specs/002 §9.5)."""

from typing import Final

from tamis.lab.arbitrary import ARBITRARY, abe_gen_grid
from tamis.lab.claim import Claim
from tamis.lab.contest import contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "alpha has no clear effect".
CLAIMS: Final = (
    Claim(kind="ABE-Gen", at=5, since=0, engine="atree", paper=1, good="order"),
    *(Claim(kind="ABE-Gen", at=alpha, engine="atree", paper=1) for alpha in (0, 5)),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    points = abe_gen_grid(context.scale, "alpha", (0, 1, 5))
    return contest(context, points, CLAIMS, "alpha", league=ARBITRARY)


EXPERIMENT: Final = Experiment(
    id="002-abe-skew",
    title="Arbitrary expressions: match time against the skew of attributes",
    source="specs/002 §9.5 (thesis L1782-1901)",
    setup="ABE-Gen with attributes by P(r) = C / r**alpha.",
    run=run,
    grid="timed",
)
