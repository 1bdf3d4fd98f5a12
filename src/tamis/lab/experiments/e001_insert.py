"""How long does an insertion take? Figure 8 of the paper (specs/001 §3, E3)."""

from collections.abc import Mapping
from typing import Final

from tamis.geometry.leaves import Longs
from tamis.geometry.runset import RunSet
from tamis.lab.content import AIM_FACTOR, NAMES, Content, Linear, best_seconds, distinct, filled, space
from tamis.lab.experiment import Context, Experiment, Outcome, Row
from tamis.lab.race import BULK, LOOP, SINGLE, Times, aim_rows, figure, flat_rows, race, slower_rows, tables

WIDTH: Final = 2
#: The table as the paper has it: without what deletion needs.
ALONE: Final = "runs without counts, in bulk"
#: "In the order of 0.1 ms", whatever the law and the dimensions.
PAPER: Final = 0.1


def run(context: Context) -> Outcome:
    """Insert boxes into tables of every size."""
    times = race(context, WIDTH, heat)
    return Outcome(
        rows=[
            *_order_rows(times),
            *aim_rows(times, "insertion"),
            *slower_rows(times, "insertion", grows=True),
            *flat_rows(times, "insertion"),
        ],
        figure=figure(times, "µs for one insertion"),
        notes=[
            "Cubes of size 2 on 256 cells an axis; when so many are there, the next are inserted: converted, tested, "
            "merged, and what is to be forwarded returned. Processor times, the fastest of five passes.",
            "The loop compares with every box that no other covers, ends at the first that contains the new one, and "
            "otherwise appends it. It is compiled, as the table is, and knows nothing of subsumption or merging.",
            f"'{ALONE}' is what the paper describes. The table also counts how often each cell is covered, which "
            "deletion needs and the paper leaves open; that takes about half of its time.",
            "The plots of the paper are lost. Its text: in the order of 0.1 ms, nearly flat in the number of boxes, "
            "growing with the dimensions, slower with the uniform law. 'Nearly flat' counts as within 50 %, in bulk.",
            f"Our aim: at 100,000 boxes in 3 dimensions at least {AIM_FACTOR} times as fast as the loop, in bulk as "
            "the loop is. One by one, calling takes longer than inserting.",
        ],
        tables=tables(times),
    )


def heat(held: Content, asked: Content) -> Mapping[str, float]:
    """Time the insertion of boxes, which are taken out again between passes."""
    loop = Linear(*distinct(held.lows, held.highs), len(asked.lows))
    table, count = filled(held.lows, held.highs), len(held.lows)
    handles = range(count, count + len(asked.lows))
    pairs = list(zip(handles, asked.lows, asked.highs, strict=True))
    ours, alone = space(held.lows.shape[1]), RunSet()
    alone.insert_many(*ours.runs_of_many(held.lows, held.highs))
    fresh: list[Longs] = []

    def insert_alone() -> None:
        fresh[:] = alone.insert_many(*ours.runs_of_many(asked.lows, asked.highs))[1:]

    def remove() -> None:
        for handle in handles:
            table.remove(handle)

    return best_seconds(
        {
            LOOP: lambda: loop.insert(asked.lows, asked.highs),
            SINGLE: lambda: [table.add(*each) for each in pairs],
            BULK: lambda: table.add_many(handles, asked.lows, asked.highs),
            ALONE: insert_alone,
        },
        undo={SINGLE: remove, BULK: remove, ALONE: lambda: alone.cut(*fresh)},
    )


def _order_rows(times: Times) -> list[Row]:
    rows: list[Row] = []
    for law, by_dimensions in times.items():
        for dimensions, by_size in by_dimensions.items():
            most = max(by_size)
            label = f"{NAMES[law]}, {dimensions} dimensions, {most:,} boxes: insertion"
            rows.append(Row(label, by_size[most][SINGLE] / 1e3, PAPER, "ms", "smaller"))
    return rows


EXPERIMENT: Final = Experiment(
    id="001-insert",
    title="Insertion into the table",
    source="specs/001 §3 E3, Figure 8 (paper L368-372)",
    setup="Cubes of size 2 are inserted into tables of many, and into a list.",
    run=run,
)
