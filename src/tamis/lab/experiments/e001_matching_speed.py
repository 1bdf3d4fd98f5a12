"""How long does it take to match a publication? Figure 10 of the paper (specs/001 §3, E5)."""

from collections.abc import Mapping
from typing import Final

from tamis.lab.content import Content, Linear, best_seconds, distinct, filled
from tamis.lab.experiment import Context, Experiment, Outcome, Row
from tamis.lab.race import BULK, LOOP, SINGLE, aim_rows, figure, flat_rows, race, slower_rows, tables

WIDTH: Final = 2


def run(context: Context) -> Outcome:
    """Match publications against tables of every size."""
    wrong: list[int] = []

    def judged(held: Content, asked: Content) -> Mapping[str, float]:
        seconds, differing = heat(held, asked)
        wrong.append(differing)
        return seconds

    times = race(context, WIDTH, judged)
    return Outcome(
        rows=[
            *aim_rows(times, "matching"),
            *slower_rows(times, "matching", grows=False),
            *flat_rows(times, "matching"),
            Row("publications that table and loop do not agree on", sum(wrong)),
        ],
        figure=figure(times, "µs for one publication"),
        notes=[
            "Cubes of size 2 on 256 cells an axis, uniform publications. To match is to find out whether anybody "
            "on the other side of a link wants the publication: the loop ends at the first box that holds it. "
            "Processor times, the fastest of five passes.",
            "The plots of the paper are lost. Its text: far faster than the loop, and faster with Zipf's law. "
            "'Nearly flat' counts as within 50 %, in bulk. Where many uniform boxes fill a small space, as in 2 "
            "dimensions, they merge into few runs, and matching is the faster for it.",
        ],
        tables=tables(times),
    )


def heat(held: Content, asked: Content) -> tuple[Mapping[str, float], int]:
    """Time the matching; return also on how many publications table and loop differ."""
    loop, table = Linear(*distinct(held.lows, held.highs)), filled(held.lows, held.highs)
    wrong = int((loop.matched(asked.points) != table.match_many(asked.points)).sum())
    seconds = best_seconds(
        {
            LOOP: lambda: loop.matched(asked.points),
            SINGLE: lambda: [table.match(point) for point in asked.points],
            BULK: lambda: table.match_many(asked.points),
        }
    )
    return seconds, wrong


EXPERIMENT: Final = Experiment(
    id="001-matching-speed",
    title="Matching on the curve",
    source="specs/001 §3 E5, Figure 10 (paper L376-385)",
    setup="Uniform publications are matched against a table of cubes of size 2, and against a list.",
    run=run,
)
