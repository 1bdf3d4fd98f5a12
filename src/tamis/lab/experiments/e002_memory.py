"""Memory of each engine (specs/002 §9.4)."""

from typing import Final

from tamis.lab.claim import Claim
from tamis.lab.contest import SIZES, be_gen, contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "memory: PSTBloom up to -94 % vs BE-Tree, -99 % vs OpIndex; Propagation least".
CLAIMS: Final = tuple(
    Claim(kind=kind, at=100_000_000, engine=engine, against=against, paper=paper, measure="own_bytes", good="smaller")
    for kind in ("dense", "sparse")
    for engine, against, paper in (
        ("pstbloom", "betree", 0.06),
        ("pstbloom", "opindex", 0.01),
        ("propagation", None, 1),
    )
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    return contest(
        context, be_gen(context.scale, "subscriptions", SIZES[context.scale]), CLAIMS, "subscriptions", "own_bytes"
    )


EXPERIMENT: Final = Experiment(
    id="002-memory",
    title="Memory against the number of subscriptions",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen, dense (100 dimensions) and sparse (30,000), at the defaults of the thesis.",
    run=run,
    grid="timed",
)
