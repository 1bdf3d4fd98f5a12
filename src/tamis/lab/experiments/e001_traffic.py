"""How many subscriptions are forwarded with covering and with subsumption? Figure 7 of the paper (specs/001 §3, E2)."""

import itertools
from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec
import numpy as np

from tamis.geometry.runset import RunSet
from tamis.lab.content import AIM_SIZE, DIMENSIONS, LAWS, NAMES, SIZES, Law, content, distinct, space
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Series, Table

#: Boxes converted at once, so that their runs do not all have to be there at the same time.
_CHUNK: Final = 10_000
#: Our aim for 2 dimensions and Zipf's law: less than this share of the subscriptions.
AIM_SHARE: Final = 0.1


class Forwarded(msgspec.Struct, frozen=True):
    """Of so many subscriptions, how many are forwarded if covered ones are not, and if subsumed ones are not."""

    subscriptions: int
    covering: int
    subsumption: int

    @property
    def quotient(self) -> float:
        """What is left by subsumption of what covering leaves."""
        return self.subsumption / self.covering


#: Law -> dimensions -> number of subscriptions -> what is forwarded.
Traffic: TypeAlias = Mapping[Law, Mapping[int, Mapping[int, Forwarded]]]


def run(context: Context) -> Outcome:
    """Count what is forwarded in every law and number of dimensions, as subscriptions come."""
    sizes = SIZES[context.scale]
    traffic: dict[Law, dict[int, dict[int, Forwarded]]] = {law: {} for law in LAWS}
    points = [(context.seed, law, dimensions, sizes) for law in LAWS for dimensions in DIMENSIONS]
    for (_, law, dimensions, _), each in zip(points, context.each(_forwarded, points), strict=True):
        traffic[law][dimensions] = each
    return Outcome(
        rows=_rows(traffic),
        figure=Figure(
            "subscriptions",
            "forwarded",
            [
                series
                for dimensions, by_size in traffic["zipf"].items()
                for series in _series(f"{dimensions} dimensions", by_size)
            ],
        ),
        notes=[
            "Cubes of size 4 on 256 cells an axis. All have one size, so one covers another only if they are equal. "
            "A subscription is forwarded if it adds something to the union of those before it; nobody leaves.",
            "The plots of the paper are lost. What its text says: subsumption is well below covering, and the gap is "
            "larger with fewer dimensions. The figure is for Zipf's law, as the paper's; the exponent 1.0 is ours.",
            f"Our aim: with Zipf's law, {AIM_SIZE:,} subscriptions and 2 dimensions, below {AIM_SHARE:.0%} are "
            "forwarded under subsumption.",
        ],
        tables=[_table(law, by_dimensions) for law, by_dimensions in traffic.items()],
    )


def _forwarded(seed: int, law: Law, dimensions: int, sizes: tuple[int, ...]) -> dict[int, Forwarded]:
    lows, highs, _ = content(seed, subscriptions=max(sizes), events=1, attributes=dimensions, law=law)
    ours, table = space(dimensions), RunSet()
    added: list[np.ndarray[tuple[int], np.dtype[np.bool_]]] = []
    for first in range(0, len(lows), _CHUNK):
        part = slice(first, first + _CHUNK)
        offsets, *_ = table.insert_many(*ours.runs_of_many(lows[part], highs[part]))
        added.append(np.diff(offsets) > 0)
    subsumption = np.cumsum(np.concatenate(added))
    return {
        size: Forwarded(size, len(distinct(lows[:size], highs[:size])[0]), int(subsumption[size - 1])) for size in sizes
    }


def _rows(traffic: Traffic) -> list[Row]:
    rows: list[Row] = []
    for law, by_dimensions in traffic.items():
        largest = [list(by_size.values())[-1] for by_size in by_dimensions.values()]
        quotients = [each.quotient for each in largest]
        what = f"{NAMES[law]}, {largest[0].subscriptions:,} subscriptions"
        rows += [
            Row(f"{what}, {dimensions} dimensions: subsumption / covering", quotient)
            for dimensions, quotient in zip(by_dimensions, quotients, strict=True)
        ]
        if law == "zipf":
            rows += [
                Row(
                    f"{what}: numbers of dimensions, of {len(quotients)}, in which subsumption forwards less",
                    sum(each < 1 for each in quotients),
                    len(quotients),
                    good="exact",
                ),
                Row(
                    f"{what}: times, of {len(quotients) - 1}, that one more dimension makes the gap smaller",
                    sum(fewer < more for fewer, more in itertools.pairwise(quotients)),
                    len(quotients) - 1,
                    good="exact",
                ),
            ]
    aim = traffic["zipf"][2]
    size = min(aim, key=lambda each: abs(each - AIM_SIZE))
    rows += [
        Row(f"Zipf, {size:,} subscriptions, 2 dimensions: forwarded by {name}", 100 * count / size, unit="%")
        for name, count in (("covering", aim[size].covering), ("subsumption", aim[size].subsumption))
    ]
    return rows


def _series(panel: str, by_size: Mapping[int, Forwarded]) -> list[Series]:
    x = [float(size) for size in by_size]
    return [
        Series("none", x, x, panel),
        Series("covering", x, [float(each.covering) for each in by_size.values()], panel),
        Series("subsumption", x, [float(each.subsumption) for each in by_size.values()], panel),
    ]


def _table(law: Law, by_dimensions: Mapping[int, Mapping[int, Forwarded]]) -> Table:
    return Table(
        f"Forwarded, {NAMES[law]} law",
        ["dimensions", "subscriptions", "covering", "subsumption", "subsumption, %"],
        [
            [str(dimensions), size, each.covering, each.subsumption, 100 * each.subsumption / size]
            for dimensions, by_size in by_dimensions.items()
            for size, each in by_size.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    id="001-traffic",
    title="Subscriptions forwarded",
    source="specs/001 §3 E2, Figure 7 (paper L356)",
    setup="Cubes of size 4 come one after the other; those that add nothing are not forwarded.",
    run=run,
    grid="counted",
)
