"""How much shorter are lists if brokers have more links? Figure 10.1.14 of the thesis (S3)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Outcome, Row
from tamis.lab.listings import Setting, figure, listed, notes, spread, table

SETTING: Final = Setting(700, 9, None)
PAPER: Final = 3.2


def run(context: Context) -> Outcome:
    """Count the lists, for all destinations and for half of them."""
    found = listed([SETTING, Setting(700, 9, 350)], context)
    everybody, half = found
    return Outcome(
        rows=[
            Row(f"{everybody.setting}: mean list", everybody.mean, PAPER if everybody.setting == SETTING else None),
            Row(f"{half.setting}: mean list", half.mean),
            *(Row(f"{each.setting}: lists that differ in the world", each.differing) for each in found),
        ],
        figure=figure(found),
        notes=[
            *notes(found),
            f"{spread(everybody)}. The thesis says that half of the brokers wanted an event, but goes on from the "
            "example of 002-S2, in which all did: the figure fits all (specs/002 §9.2).",
        ],
        tables=[table(found)],
    )


EXPERIMENT: Final = Experiment(
    id="002-S3",
    title="Destination lists, 700 brokers of degree 9",
    source="specs/002 §9.2 S3, Figure 10.1.14 of the thesis",
    setup="Events that all brokers want, in D-DBR.",
    run=run,
    grid="counted",
)
