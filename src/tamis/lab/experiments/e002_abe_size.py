"""Arbitrary expressions: match time against their number (specs/002 §9.5)."""

from collections.abc import Mapping
from typing import Final

from tamis.lab.arbitrary import ARBITRARY, abe_gen
from tamis.lab.claim import Claim
from tamis.lab.contest import contest
from tamis.lab.experiment import Context, Experiment, Outcome, Scale

SIZES: Final[Mapping[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (1_000, 3_000, 10_000),
    Scale.FULL: (10_000, 30_000, 100_000, 300_000),
}
#: "10M -> A-Tree -92.3 % match time vs BDD".
CLAIMS: Final = (
    Claim(kind="ABE-Gen", at=10_000_000, engine="atree", against="bdd", paper=0.077, good="smaller"),
    *(Claim(kind="ABE-Gen", at=size, engine="atree", paper=1) for size in (30_000, 1_000_000)),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every size."""
    points = abe_gen(context.scale, "subscriptions", SIZES[context.scale])
    return contest(context, points, CLAIMS, "expressions", league=ARBITRARY)


EXPERIMENT: Final = Experiment(
    id="002-abe-size",
    title="Arbitrary expressions: match time against their number",
    source="specs/002 §9.5 (thesis L1782-1901)",
    setup="ABE-Gen at the defaults of the thesis: depth 3, 4 children, 1,000 dimensions, events of 20 attributes.",
    run=run,
    grid="timed",
)
