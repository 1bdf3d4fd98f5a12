"""How many destinations does an event carry within clusters? Figures 10.1.14 and 10.1.16 of the thesis (S5)."""

from collections import Counter
from typing import Final

import msgspec

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.overlays import MERC, Lists, Tables, clustered, in_world, journeys, mean, plain

CLUSTER: Final = 100
DEGREE: Final = 9.0
#: Brokers, the size of a cluster, and events in the world.
SIZES: Final[dict[Scale, tuple[tuple[int, ...], int, int]]] = {
    Scale.QUICK: ((40, 80), 20, 10),
    Scale.FULL: ((200, 600, 1_000), CLUSTER, 60),
}
#: Shares of brokers that want an event. The first is that of the mean list; of the list at the source it is not known.
SHARES: Final = (0.5, 1.0)
PAPER_MEAN: Final = 1.92
PAPER_AT_SOURCE: Final = 8.6
BROKERS: Final = 1_000


class Listed(msgspec.Struct, frozen=True):
    """Destinations in a list: mean in MERC, mean in MERC at the publisher's broker, and mean in D-DBR."""

    merc: float
    at_source: float
    ddbr: float


def run(context: Context) -> Outcome:
    """Publish in larger and larger overlays."""
    sizes, cluster, events = SIZES[context.scale]
    found: dict[float, dict[int, Listed]] = {share: {} for share in SHARES}
    points = [(share, brokers, cluster, events, context.seed) for share in SHARES for brokers in sizes]
    for (share, brokers, *_), each in zip(points, context.each(_listed, points), strict=True):
        found[share][brokers] = each
    most = max(sizes)
    is_paper = most == BROKERS
    return Outcome(
        rows=[
            Row(f"{most:,} brokers, 50 %: mean list, MERC", found[0.5][most].merc, PAPER_MEAN if is_paper else None),
            Row(f"{most:,} brokers, 50 %: mean list, D-DBR", found[0.5][most].ddbr),
            *(
                Row(
                    f"{most:,} brokers, {share:.0%}: mean list at the source, MERC",
                    by_size[most].at_source,
                    PAPER_AT_SOURCE if is_paper else None,
                    tolerance=0.3,
                )
                for share, by_size in found.items()
            ),
        ],
        figure=Figure(
            "brokers",
            "destinations in a list, 50 %",
            [
                Series(name, [float(each) for each in sizes], [getattr(found[0.5][each], field) for each in sizes])
                for name, field in (("MERC", "merc"), ("MERC, at the source", "at_source"), ("D-DBR", "ddbr"))
            ],
        ),
        notes=[
            f"Clusters of {cluster}, each with an edge broker of its own, and a backbone of these; mean degree "
            f"{DEGREE:g} in each. {events} events for each size and share (the thesis: 10,000), in the world by "
            "`merc`, one graph each; D-DBR on a plain random graph by its tables of next hops.",
            "Of the list at the source the thesis does not say how many brokers wanted an event. With clusters of 100 "
            "and 9 neighbours it is about 50 / 9 if half of them do, and 100 / 9 if all do; 8.6 lies between.",
        ],
        tables=[
            Table(
                "Destinations in a list",
                ["wanted by, brokers", "MERC", "MERC, at the source", "D-DBR"],
                [
                    [f"{share:.0%}, {brokers:,}", each.merc, each.at_source, each.ddbr]
                    for share, by_size in found.items()
                    for brokers, each in by_size.items()
                ],
            )
        ],
    )


def _listed(share: float, brokers: int, cluster: int, events: int, seed: int) -> Listed:
    wanted = min(round(share * brokers), brokers - 1)
    some = list(journeys(brokers, wanted, events, seed))
    lists: Lists = in_world(MERC, clustered(brokers, brokers // cluster, DEGREE, seed), some)
    ddbr: Counter[int] = Tables(plain(brokers, DEGREE, seed)).lists(some)
    return Listed(mean(lists.all), mean(lists.at_source), mean(ddbr))


EXPERIMENT: Final = Experiment(
    id="002-S5",
    title="Destination lists within clusters",
    source="specs/002 §9.2 S5, Figures 10.1.14 and 10.1.16 of the thesis",
    setup="Events that half of the brokers want, or all, in MERC.",
    run=run,
    grid="counted",
)
