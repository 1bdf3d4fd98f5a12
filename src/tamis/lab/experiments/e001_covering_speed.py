"""How long does it take to see that a box is covered? Figure 9 of the paper (specs/001 §3, E4)."""

from collections.abc import Mapping
from typing import Final

from tamis.covering.ranges import BoxIndex
from tamis.lab.content import AIM_FACTOR, Content, Linear, best_seconds, distinct, filled
from tamis.lab.experiment import Context, Experiment, Outcome, Row
from tamis.lab.race import BULK, LOOP, SINGLE, aim_rows, figure, flat_rows, race, tables

#: [O] The paper does not say; 4 is what it has where it says nothing.
WIDTH: Final = 4
#: The two-phase index: it names who covers.
STAB: Final = "stab, one by one"


def run(context: Context) -> Outcome:
    """Ask tables of every size whether boxes are covered."""
    missed: list[int] = []
    more: list[int] = []

    def judged(held: Content, asked: Content) -> Mapping[str, float]:
        seconds, wrong, subsumed = heat(held, asked)
        missed.append(wrong)
        more.append(subsumed)
        return seconds

    times = race(context, WIDTH, judged)
    return Outcome(
        rows=[
            *aim_rows(times, "covering test"),
            *flat_rows(times, "covering test"),
            Row("boxes that one covers, and the table or the index does not find", sum(missed)),
            Row("boxes that only several cover together, found by the table", sum(more)),
        ],
        figure=figure(times, "µs for one test"),
        notes=[
            "Cubes of size 4 on 256 cells an axis. Processor times, the fastest of five passes; conversion to runs "
            "is part of every test.",
            "The loop compares with every box that no other covers, and ends at the first that contains the one "
            "asked about. The table says whether a box is covered by one or by several, and cannot say by whom. The "
            "index of candidates does name one: it looks up the owners of one cell and compares their boxes. How the "
            "paper adapted its table to covering is not stated, so both are shown.",
            "The plots of the paper are lost. Its text: far faster than the loop, and nearly flat in the number of "
            "boxes. 'Nearly flat' counts as within 50 %, in bulk.",
            f"Our aim: at 100,000 boxes in 3 dimensions at least {AIM_FACTOR} times as fast as the loop, in bulk as "
            "the loop is.",
        ],
        tables=tables(times),
    )


def heat(held: Content, asked: Content) -> tuple[Mapping[str, float], int, int]:
    """Time the tests; return also how many coverers were missed, and how many boxes several cover."""
    lows, highs = distinct(held.lows, held.highs)
    loop, table, index = Linear(lows, highs), filled(held.lows, held.highs), BoxIndex(lows.shape[1])
    for handle, box in enumerate(zip(lows, highs, strict=True)):
        index.add(handle, *box)
    boxes = list(zip(asked.lows, asked.highs, strict=True))
    right, ours = loop.covered(asked.lows, asked.highs), table.is_covered_many(asked.lows, asked.highs)
    named = [bool(len(index.coverers(*box, limit=1))) for box in boxes]
    seconds = best_seconds(
        {
            LOOP: lambda: loop.covered(asked.lows, asked.highs),
            SINGLE: lambda: [table.is_covered(*box) for box in boxes],
            BULK: lambda: table.is_covered_many(asked.lows, asked.highs),
            STAB: lambda: [index.coverers(*box, limit=1) for box in boxes],
        }
    )
    return seconds, int((right & ~ours).sum() + (right != named).sum()), int((ours & ~right).sum())


EXPERIMENT: Final = Experiment(
    id="001-covering-speed",
    title="Tests for covering",
    source="specs/001 §3 E4, Figure 9 (paper L374)",
    setup="Is a cube covered by what is there? The table, the two-phase index and a loop are asked.",
    run=run,
)
