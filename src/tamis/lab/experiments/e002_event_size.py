"""Match time against the number of attributes in an event (specs/002 §9.4)."""

from typing import Final

from tamis.lab.claim import Claim
from tamis.lab.contest import be_gen_grid, contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "event size 90: dense PSTHash -85 % vs BE-Tree; sparse PSTBloom -80 % vs OpIndex".
CLAIMS: Final = (
    Claim(kind="dense", at=90, engine="psthash", against="betree", paper=0.15, good="smaller"),
    Claim(kind="sparse", at=90, engine="pstbloom", against="opindex", paper=0.20, good="smaller"),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    return contest(context, be_gen_grid(context.scale, "event_size", (30, 54, 90)), CLAIMS, "attributes per event")


EXPERIMENT: Final = Experiment(
    id="002-event-size",
    title="Match time against the size of events",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen, dense (100 dimensions) and sparse (30,000); so many attributes in each event.",
    run=run,
    grid="timed",
)
