"""What still arrives when links fail? Figure 10.1.19 of the thesis (S8)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Outcome
from tamis.lab.robustness import outcome, suffered

#: Delivered by D-DBR and by FBR when half of all links have failed, in per cent.
PAPER: Final = (86.2, 17.5)


def run(context: Context) -> Outcome:
    """Let more and more links fail."""
    found = suffered("links", context)
    return outcome("links", context.scale, context.seed, found, PAPER)


EXPERIMENT: Final = Experiment(
    id="002-S8",
    title="Events that arrive when links fail",
    source="specs/002 §9.2 S8, Figure 10.1.19 of the thesis",
    setup="Every broker publishes one event for all, after some links have failed.",
    run=run,
    grid="counted",
)
