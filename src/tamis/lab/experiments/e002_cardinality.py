"""Match time against the number of values of an attribute (specs/002 §9.4)."""

from typing import Final

from tamis.lab.claim import Claim
from tamis.lab.contest import be_gen_grid, contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "dense: PSTHash best below 300; at 1K PSTBloom -91 % vs OpIndex".
CLAIMS: Final = (
    *(Claim(kind="dense", at=cardinality, engine="psthash", paper=1) for cardinality in (3, 30, 100)),
    Claim(kind="dense", at=1_000, engine="pstbloom", against="opindex", paper=0.09, good="smaller"),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    return contest(context, be_gen_grid(context.scale, "cardinality", (3, 30, 100, 1_000)), CLAIMS, "cardinality")


EXPERIMENT: Final = Experiment(
    id="002-cardinality",
    title="Match time against the number of values of an attribute",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen, dense (100 dimensions) and sparse (30,000); so many values per attribute.",
    run=run,
    grid="timed",
)
