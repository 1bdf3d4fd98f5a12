"""How long are the lists of destinations on random graphs? What 002-S1 to 002-S4 have in common (specs/002 §9.2)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from tamis.lab.experiment import Context, Figure, Scale, Series, Table
from tamis.lab.overlays import DDBR, Tables, in_world, journeys, mean, plain, share_below

#: Graphs, by what brokers are divided if there are many, and the events of a setting in the world.
SIZES: Final[dict[Scale, tuple[int, int, int]]] = {Scale.QUICK: (2, 10, 5), Scale.FULL: (5, 1, 20)}
MANY: Final = 100
#: Events on a graph that are worked out by tables, at most, and as many destinations as they may have together.
EVENTS: Final = 2_000
WORK: Final = 140_000


class Setting(msgspec.Struct, frozen=True):
    """An overlay and how many brokers want each event; None for all but the publisher's."""

    brokers: int
    degree: float
    destinations: int | None

    def at(self, scale: Scale) -> "Setting":
        """Return the setting with as many brokers as are run."""
        divisor = SIZES[scale][1] if self.brokers > MANY else 1
        destinations = None if self.destinations is None else self.destinations // divisor
        return Setting(self.brokers // divisor, self.degree, destinations)

    @property
    def wanted(self) -> int:
        """Brokers that want each event."""
        return self.brokers - 1 if self.destinations is None else self.destinations

    @property
    def events(self) -> int:
        """Events on each graph."""
        return min(EVENTS, WORK // self.wanted)

    def __str__(self) -> str:
        wanted = "all" if self.destinations is None else f"{self.destinations}"
        return f"{self.brokers} brokers, degree {self.degree:g}, {wanted} destinations"


class Listed(msgspec.Struct, frozen=True):
    """The lists of a setting: for each graph, how often each length came."""

    setting: Setting
    by_graph: list[dict[int, int]]
    #: Links between two brokers, a mean for each graph.
    distances: list[float]
    #: The events in the world, and how many of their lists differ from those worked out for the same events.
    in_world: int
    differing: int

    @property
    def all(self) -> "Counter[int]":
        """Return the lists of all graphs together."""
        return sum((Counter(each) for each in self.by_graph), Counter())

    @property
    def means(self) -> list[float]:
        """Return the mean list of each graph."""
        return [mean(Counter(each)) for each in self.by_graph]

    @property
    def mean(self) -> float:
        """Return the mean of the graphs' means."""
        return sum(self.means) / len(self.means)


def listed(settings: Sequence[Setting], context: Context) -> list[Listed]:
    """Count the lists of settings: all by the tables of `ddbr`, and some in the world, on the first graph."""
    graphs, _, in_the_world = SIZES[context.scale]
    scaled = [each.at(context.scale) for each in settings]
    points = [
        (setting, context.seed + number, 0 if number else in_the_world)
        for setting in scaled
        for number in range(graphs)
    ]
    found = context.each(_on_graph, points)
    result = []
    for number, setting in enumerate(scaled):
        those = found[number * graphs : (number + 1) * graphs]
        lists, distances = [each.lists for each in those], [each.distance for each in those]
        result.append(Listed(setting, lists, distances, those[0].sent, those[0].differing))
    return result


class _OnGraph(NamedTuple):
    lists: dict[int, int]
    distance: float
    #: Events in the world, and how many of their lists are others.
    sent: int
    differing: int


def _on_graph(setting: Setting, seed: int, in_the_world: int) -> _OnGraph:
    graph = plain(setting.brokers, setting.degree, seed)
    tables = Tables(graph)
    events = list(journeys(setting.brokers, setting.wanted, setting.events, seed))
    lists = dict(sorted(tables.lists(events).items()))
    some, differing = events[:in_the_world], 0
    if some:
        world, worked_out = in_world(DDBR, graph, some).all, tables.lists(some)
        differing = (world - worked_out).total() + (worked_out - world).total()
    return _OnGraph(lists, tables.distance(), len(some), differing)


def figure(found: Sequence[Listed]) -> Figure:
    """Return which share of lists is not longer than so many destinations."""
    series = []
    for each in found:
        lengths = sorted(each.all)
        series.append(
            Series(
                str(each.setting),
                [float(length) for length in lengths],
                [share_below(each.all, length + 1) for length in lengths],
            )
        )
    return Figure("destinations in a list", "lists that are not longer, %", series)


def notes(found: Sequence[Listed]) -> list[str]:
    """Say what was done, and whether it fits."""
    return [
        f"Random trees with random links up to a mean degree, {len(found[0].by_graph)} graphs for each setting. For "
        "each event a random broker publishes and random others want it. "
        + "; ".join(f"{each.setting}: {each.setting.events:,} events a graph" for each in found)
        + ". The thesis has 10,000 events on graphs of GT-ITM.",
        "These lists are worked out by the tables of next hops that `ddbr` itself keeps. "
        + f"{found[0].in_world} of the events of each setting were also sent by `ddbr` in the world"
        + f". Lists that differ between the two: {sum(each.differing for each in found)}.",
    ]


def table(found: Sequence[Listed]) -> Table:
    """Return the graphs one by one."""
    return Table(
        "Lists by graph",
        ["setting, graph", "mean list", "mean distance", "below 5, %", "below 12, %", "longest"],
        [
            [
                f"{each.setting}, {number}",
                mean(counts),
                distance,
                share_below(counts, 5),
                share_below(counts, 12),
                max(counts),
            ]
            for each in found
            for number, (counts, distance) in enumerate(
                zip(map(Counter, each.by_graph), each.distances, strict=True), 1
            )
        ],
    )


def spread(found: Listed) -> str:
    """Return a setting's least and largest mean in words."""
    return f"{found.setting}: means of {min(found.means):.2f} to {max(found.means):.2f} over graphs"
