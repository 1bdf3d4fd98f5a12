"""What still arrives when brokers fail? Figure 10.1.18 of the thesis (S7)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Outcome
from tamis.lab.robustness import outcome, suffered

#: Delivered by D-DBR and by FBR when half of all brokers have failed, in per cent.
PAPER: Final = (21.8, 8.7)


def run(context: Context) -> Outcome:
    """Let more and more brokers fail."""
    found = suffered("brokers", context)
    return outcome("brokers", context.scale, context.seed, found, PAPER)


EXPERIMENT: Final = Experiment(
    id="002-S7",
    title="Events that arrive when brokers fail",
    source="specs/002 §9.2 S7, Figure 10.1.18 of the thesis",
    setup="Every broker publishes one event for all, after some brokers have failed.",
    run=run,
    grid="counted",
)
