"""Match time against the share of equality predicates (specs/002 §9.4)."""

from typing import Final

from tamis.lab.claim import Claim
from tamis.lab.contest import be_gen_grid, contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "equality 100 %: sparse: Propagation ≈ PSTBloom; dense: PSTHash first throughout".
CLAIMS: Final = (
    *(Claim(kind="dense", at=share, engine="psthash", paper=1) for share in (0, 0.4, 1)),
    Claim(kind="sparse", at=1, engine="propagation", against="pstbloom", paper=1, good="order"),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    return contest(context, be_gen_grid(context.scale, "equality", (0, 0.4, 1)), CLAIMS, "share of equalities")


EXPERIMENT: Final = Experiment(
    id="002-equality",
    title="Match time against the share of equality predicates",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen, dense (100 dimensions) and sparse (30,000); this share of the predicates are equalities.",
    run=run,
    grid="timed",
)
