"""How many destinations does an event carry that all of 700 brokers want? Figure 10.1.13 of the thesis (S2)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Outcome, Row
from tamis.lab.listings import Setting, figure, listed, notes, spread, table

SETTING: Final = Setting(700, 6, None)
PAPER: Final = 3.8


def run(context: Context) -> Outcome:
    """Count the lists, for all destinations and for half of them."""
    found = listed([SETTING, Setting(700, 6, 350)], context)
    everybody, half = found
    return Outcome(
        rows=[
            Row(f"{everybody.setting}: mean list", everybody.mean, PAPER if everybody.setting == SETTING else None),
            Row(f"{everybody.setting}: mean distance", sum(everybody.distances) / len(everybody.distances)),
            Row(f"{half.setting}: mean list", half.mean),
            *(Row(f"{each.setting}: lists that differ in the world", each.differing) for each in found),
        ],
        figure=figure(found),
        notes=[
            *notes(found),
            f"{spread(everybody)}. If all brokers want an event, the mean list is the mean distance (specs/002 §3.5), "
            "but for which brokers happened to publish.",
        ],
        tables=[table(found)],
    )


EXPERIMENT: Final = Experiment(
    id="002-S2",
    title="Destination lists, 700 brokers of degree 6",
    source="specs/002 §9.2 S2, Figure 10.1.13 of the thesis",
    setup="Events that all brokers want, in D-DBR.",
    run=run,
    grid="counted",
)
