"""Match time against the number of subscriptions (specs/002 §9.4)."""

from typing import Final

from tamis.lab.claim import Claim
from tamis.lab.contest import SIZES, be_gen, contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: Dense: "300K: PSTBloom -84 % vs OpIndex; > 1M PSTHash best, -92 % vs OpIndex at 100M". Sparse: "PSTBloom always best;
#: PSTHash ≈ OpIndex at 30M".
CLAIMS: Final = (
    Claim(kind="dense", at=300_000, engine="pstbloom", against="opindex", paper=0.16, good="smaller"),
    Claim(kind="dense", at=1_000_000, engine="psthash", paper=1),
    Claim(kind="dense", at=100_000_000, engine="psthash", against="opindex", paper=0.08, good="smaller"),
    *(Claim(kind="sparse", at=size, engine="pstbloom", paper=1) for size in (300_000, 1_000_000)),
    Claim(kind="sparse", at=30_000_000, engine="psthash", against="opindex", paper=1, good="order"),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    return contest(context, be_gen(context.scale, "subscriptions", SIZES[context.scale]), CLAIMS, "subscriptions")


EXPERIMENT: Final = Experiment(
    id="002-size",
    title="Match time against the number of subscriptions",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen, dense (100 dimensions) and sparse (30,000), at the defaults of the thesis.",
    run=run,
    grid="timed",
)
