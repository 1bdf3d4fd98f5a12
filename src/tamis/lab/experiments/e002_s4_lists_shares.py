"""Which share of destination lists is short? Figure 10.1.15 of the thesis (S4)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Outcome, Row
from tamis.lab.listings import Setting, figure, listed, notes, table
from tamis.lab.overlays import share_below

SETTING: Final = Setting(700, 6, 70)
#: Lists below so many destinations: at least so many per cent.
PAPER: Final = {5: 95.0, 12: 99.0}


def run(context: Context) -> Outcome:
    """Count the lists."""
    found = listed([SETTING], context)
    (tenth,) = found
    return Outcome(
        rows=[
            *(
                Row(
                    f"{tenth.setting}: lists below {limit}",
                    share_below(tenth.all, limit),
                    share if tenth.setting == SETTING else None,
                    "%",
                    "larger",
                    0.015,
                )
                for limit, share in PAPER.items()
            ),
            Row(f"{tenth.setting}: mean list", tenth.mean),
            Row(f"{tenth.setting}: lists that differ in the world", tenth.differing),
        ],
        figure=figure(found),
        notes=[
            *notes(found),
            'The thesis has "more than" these shares. The prototype of specs/002 §9.2 had 94.0 % and 98.3 %.',
        ],
        tables=[table(found)],
    )


EXPERIMENT: Final = Experiment(
    id="002-S4",
    title="Short destination lists",
    source="specs/002 §9.2 S4, Figure 10.1.15 of the thesis",
    setup="Events that a tenth of the brokers want, in D-DBR.",
    run=run,
    grid="counted",
)
