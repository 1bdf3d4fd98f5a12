"""Subscribers, publishers, routers and a tree optimiser: what becomes of events between updates (specs/004 §9, E4)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import networkx as nx

from tamis.lab.prefix import Load, load
from tamis.lab.workloads.xsiena import XSiena
from tamis.routing import table
from tamis.routing.packets import Name
from tamis.routing.prefix import Filter, Optimizer, Snapshot, Split, Tags, extract
from tamis.routing.prefix.snapshot import EMPTY
from tamis.routing.prefix.tags import nearest
from tamis.simulation.overlay import Overlay
from tamis.simulation.topologies import heap

SUBSCRIBERS: Final = 9
ROUTERS: Final = 27
#: In each round, every 3 s, every subscriber subscribes and every publisher publishes.
SECONDS: Final = 3.0
#: Where a filter is tagged that the tree does not have yet.
TAGGED: Final = ("below the root", "at the root, first name not there", "at the root, name there but not these values")


class Window(msgspec.Struct, frozen=True):
    """What became of some events, one after the other."""

    events: int
    #: Deliveries to subscribers who asked for the event, and to others; of the latter those because of a root tag.
    right: int
    false: int
    by_root: int
    #: Events with a false delivery.
    spoilt: int

    @property
    def rate(self) -> float:
        """The share of deliveries that are false."""
        return self.false / max(self.right + self.false, 1)

    @property
    def wanted(self) -> float:
        """The share of pairs of event and subscriber that are wanted."""
        return self.right / (SUBSCRIBERS * self.events)


class Course(msgspec.Struct, frozen=True):
    """A run: its windows, how many filters there were at each update, and where filters were tagged as they came."""

    windows: list[Window]
    updates: list[int]
    tagged: Mapping[str, int]
    nodes: int
    #: Deliveries that were missed.
    missed: int
    #: Who got which event, the events counted from 1.
    deliveries: frozenset[tuple[int, int]]

    @property
    def whole(self) -> Window:
        """All windows together."""
        return _sum(self.windows)


def drawn(names: int, rounds: int, seed: int) -> Load:
    """Draw what all subscribers and publishers say in so many rounds, by Pareto's law."""
    count = SUBSCRIBERS * rounds
    spec = XSiena(subscriptions=count, events=count, names=names, name_law="pareto", value_law="pareto")
    return load(spec, seed)


# --- one broker in place of all -------------------------------------------------------------------------


def followed(given: Load, threshold: float, windows: int = 1, split: Split = "fork") -> Course:
    """Let a broker with all subscribers hear all filters and events.

    Whoever gets an event here gets it in an overlay: there each broker has the same tree and tags the same nodes for
    its clients and for those behind its neighbours.
    """
    optimizer = Optimizer(threshold)
    tags: Tags[int] = Tags(EMPTY, split)
    truth = table.Table[int]()
    updates: list[int] = []
    tagged: Counter[str] = Counter()
    deliveries: list[tuple[int, int]] = []
    found: list[Window] = []
    missed = 0
    rounds = len(given.filters) // SUBSCRIBERS
    for number in range(rounds):
        for place in range(number * SUBSCRIBERS, (number + 1) * SUBSCRIBERS):
            wanted = given.filters[place]
            truth.add(place % SUBSCRIBERS, given.texts[place])
            tagged[_where(tags.snapshot, wanted, split)] += 1
            tags.add(place % SUBSCRIBERS, wanted)
            optimizer.add(wanted)
            update = optimizer.update(0.0)
            if update is not None:
                updates.append(place + 1)
                tags = _retagged(update, given.filters[: place + 1], split)
        root = set(tags.at(tags.snapshot.root))
        for place in range(number * SUBSCRIBERS, (number + 1) * SUBSCRIBERS):
            event = given.events[place]
            got, right = tags.forward(extract(tags.snapshot, event)), set(truth.interested(event))
            missed += len(right - got)
            false = got - right
            found.append(Window(1, len(right), len(false), len(false & root), int(bool(false))))
            deliveries += [(client, place + 1) for client in got]
    size = len(found) // windows
    return Course(
        windows=[_sum(found[first : first + size]) for first in range(0, size * windows, size)],
        updates=updates,
        tagged=tagged,
        nodes=len(optimizer.tree),
        missed=missed,
        deliveries=frozenset(deliveries),
    )


def _retagged(snapshot: Snapshot, filters: list[Filter], split: Split) -> Tags[int]:
    tags: Tags[int] = Tags(snapshot, split)
    for place, wanted in enumerate(filters):
        tags.add(place % SUBSCRIBERS, wanted)
    return tags


def _where(snapshot: Snapshot, wanted: Filter, split: Split) -> str:
    """Say where a newcomer is tagged in a tree that was made without it."""
    if snapshot.root not in nearest(snapshot, wanted, split):
        return TAGGED[0]
    return TAGGED[2] if any(entry[0] == wanted[0].name for entry in snapshot.root.entries) else TAGGED[1]


def _sum(windows: list[Window]) -> Window:
    return Window(*(sum(each) for each in zip(*map(msgspec.structs.astuple, windows), strict=True)))


# --- readings of Equation 4.2 ---------------------------------------------------------------------------


class Doubled(Optimizer):
    """As if the mean of the two sizes were meant."""

    @property
    def difference(self) -> float:
        return 2 * super().difference


class Relative(Optimizer):
    """As if the size of the last tree alone were meant."""

    @property
    def difference(self) -> float:
        old, new = _size(self.published.levels), _size(self.tree.levels)
        return super().difference * (old + new) / old if old else float(new > 0)


def _size(levels: list[int]) -> float:
    return sum(count / height for height, count in enumerate(levels) if height)


READINGS: Final[Mapping[str, type[Optimizer]]] = {
    "by the sum of both sizes (as printed)": Optimizer,
    "by the mean of both sizes": Doubled,
    "by the size of the last tree": Relative,
}


def updates_of(filters: list[Filter], optimizer: Optimizer) -> int:
    """Return how often an optimiser that hears of these filters publishes a tree."""
    count = 0
    for wanted in filters:
        optimizer.add(wanted)
        count += optimizer.update(0.0) is not None
    return count


# --- the whole overlay ----------------------------------------------------------------------------------


class Whole(msgspec.Struct, frozen=True):
    """What the overlay did: how its deliveries differ from those of one broker, and event packets by strategy."""

    different: int
    updates: int
    updates_alone: int
    packets: int
    packets_identity: int


def overlays(given: Load, threshold: float) -> Whole:
    """Run the overlay with the optimiser, once more with identity-based routing, and the one broker."""
    prefix = _overlay(given, "prefix", threshold=threshold, verify_at_edge=False)
    identity = _overlay(given, "identity")
    alone = followed(given, threshold)
    return Whole(
        different=len(alone.deliveries.symmetric_difference(prefix.deliveries)),
        updates=int(prefix.metrics.recorded_by["trees"][0]),
        updates_alone=len(alone.updates),
        packets=prefix.metrics.sent_by_kind["Prefixed"],
        packets_identity=identity.metrics.sent_by_kind["Plain"],
    )


def _overlay(given: Load, routing: str, **options: Any) -> Overlay:
    """A tree of 27 routers has 18 leaves: nine publishers, nine subscribers. The optimiser, 0, is at its root."""
    tree: nx.Graph[Name] = nx.relabel_nodes(heap(ROUTERS, 3), {number: number + 1 for number in range(ROUTERS)})
    tree.add_edge(0, 1)
    net = Overlay(tree, routing, **options)
    net.run()
    first_subscriber = 1 + ROUTERS - SUBSCRIBERS
    for number in range(len(given.filters) // SUBSCRIBERS):
        for client in range(SUBSCRIBERS):
            net.subscribe(first_subscriber + client, client, given.texts[number * SUBSCRIBERS + client])
        net.run()
        for client in range(SUBSCRIBERS):
            home = first_subscriber - SUBSCRIBERS + client
            net.publish(home, given.events[number * SUBSCRIBERS + client], publisher=f"publisher {client}")
        net.run(until=SECONDS * (number + 1))
    return net
