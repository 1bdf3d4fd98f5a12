"""Match time against the number of predicates in a subscription (specs/002 §9.4)."""

from typing import Final

from tamis.lab.claim import Claim
from tamis.lab.contest import be_gen_grid, contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "subscription size 5→30: OpIndex +350 % dense, +200 % sparse".
CLAIMS: Final = (
    Claim(kind="dense", at=30, since=5, engine="opindex", paper=4.5, good="order"),
    Claim(kind="sparse", at=30, since=5, engine="opindex", paper=3.0, good="order"),
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    return contest(
        context, be_gen_grid(context.scale, "subscription_size", (5, 15, 30)), CLAIMS, "predicates per subscription"
    )


EXPERIMENT: Final = Experiment(
    id="002-subscription-size",
    title="Match time against the size of subscriptions",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen, dense (100 dimensions) and sparse (30,000); so many predicates in each subscription.",
    run=run,
    grid="timed",
)
