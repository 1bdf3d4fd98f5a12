"""Match time against the matching probability (specs/002 §9.4)."""

from typing import Final

from tamis.lab.claim import Claim
from tamis.lab.contest import be_gen_grid, contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "probability 50 %: PSTBloom, PSTHash ≈ 25 % of SCAN; BE-Tree, OpIndex, Propagation ≈ SCAN".
CLAIMS: Final = tuple(
    Claim(kind=kind, at=0.5, engine=engine, against="SCAN", paper=paper, good="order")
    for kind in ("dense", "sparse")
    for engine, paper in (("pstbloom", 0.25), ("psthash", 0.25), ("betree", 1), ("opindex", 1), ("propagation", 1))
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    return contest(
        context, be_gen_grid(context.scale, "matching_probability", (0.001, 0.05, 0.5)), CLAIMS, "matching probability"
    )


EXPERIMENT: Final = Experiment(
    id="002-probability",
    title="Match time against the matching probability",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen, dense (100 dimensions) and sparse (30,000); an event meets this share of the subscriptions.",
    run=run,
    grid="timed",
)
