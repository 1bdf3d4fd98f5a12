"""Arbitrary expressions: match time against the size of events (specs/002 §9.5)."""

from typing import Final

from tamis.lab.arbitrary import ARBITRARY, abe_gen_grid
from tamis.lab.claim import Claim
from tamis.lab.contest import contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: The curves are lost; that the A-Tree leads is what the text says of all of them.
CLAIMS: Final = (*(Claim(kind="ABE-Gen", at=size, engine="atree", paper=1) for size in (5, 20, 30)),)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    points = abe_gen_grid(context.scale, "event_size", (5, 20, 30))
    return contest(context, points, CLAIMS, "attributes of an event", league=ARBITRARY)


EXPERIMENT: Final = Experiment(
    id="002-abe-event-size",
    title="Arbitrary expressions: match time against the size of events",
    source="specs/002 §9.5 (thesis L1782-1901)",
    setup="ABE-Gen with events of 5 to 30 attributes out of 1,000.",
    run=run,
    grid="timed",
)
