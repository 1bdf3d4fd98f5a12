"""How many destinations does an event carry that half of 70 brokers want? (S1)"""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Outcome, Row
from tamis.lab.listings import Setting, figure, listed, notes, spread, table

SETTING: Final = Setting(70, 3, 35)
PAPER: Final = 2.51


def run(context: Context) -> Outcome:
    """Count the lists."""
    found = listed([SETTING], context)
    (half,) = found
    return Outcome(
        rows=[
            Row(f"{half.setting}: mean list", half.mean, PAPER if half.setting == SETTING else None),
            Row(f"{half.setting}: lists that differ in the world", half.differing),
        ],
        figure=figure(found),
        notes=[*notes(found), f"{spread(half)}. The prototype of specs/002 §9.2 had 2.75."],
        tables=[table(found)],
    )


EXPERIMENT: Final = Experiment(
    id="002-S1",
    title="Destination lists, 70 brokers",
    source="specs/002 §9.2 S1 (thesis L210)",
    setup="Events that half of the brokers want, in D-DBR.",
    run=run,
    grid="counted",
)
