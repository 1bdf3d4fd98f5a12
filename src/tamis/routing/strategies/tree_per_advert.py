"""Advertisement-based routing in general overlays: every advertisement has a tree of its own (specs/002 §3.1).

The thesis gives only the effects of Li et al.'s extension; this is our reading. The first copy of an advertisement
that reaches a broker fixes the broker's parent in that tree, later copies are counted and dropped. Subscriptions that
meet it go up the tree and are kept at every broker on their way, once for each advertisement. An event is given one
tree by its source and goes down that tree alone, so it reaches nobody twice.

Links that go break trees. Whoever loses its parent says that the tree is no more; when the root hears of it, it
spreads the advertisement anew, as another tree.
"""

from collections import Counter
from typing import Final, TypeAlias

import msgspec

from tamis.recent import Recent
from tamis.routing.broker import Broker, Options
from tamis.routing.conditions import Mode, may_meet
from tamis.routing.packets import (
    Event,
    Name,
    Subscription,
    Tree,
    TreeAdvert,
    TreeEvent,
    TreeGone,
    TreeSubscriptions,
)
from tamis.routing.table import Table

#: Trees are numbered by the clock, so many to a second at most for long.
TICKS: Final = 1_000_000

#: A neighbour that wants events of a tree.
Row: TypeAlias = tuple[Tree, Name]


class Known(msgspec.Struct):
    """What a broker knows of a tree: its advertisement, the neighbour towards its root, and who wants its events."""

    condition: str
    parent: Name | None
    wanted: dict[Name, dict[Subscription, None]]


class TreePerAdvert(Broker):
    """Keeps a parent and the subscriptions below for each advertisement of the overlay."""

    speaks = (TreeAdvert, TreeGone, TreeSubscriptions, TreeEvent)

    def __init__(self, name: Name, options: Options, mode: Mode) -> None:
        super().__init__(name, options)
        self._mode: Mode = mode
        self._trees: dict[Tree, Known] = {}
        self._own: dict[tuple[Name, str], Tree] = {}
        self._gone: Recent[Tree] = Recent()
        self._rows: Table[Row] = Table(options.engine)
        self._clients_of: Counter[tuple[Row, str]] = Counter()
        self._number = 0

    # --- advertisements ----------------------------------------------------------------------------------

    def on_advertise(self, client: Name, condition: str) -> None:
        # A broker that starts anew must not use the numbers of its former life, which others remember as gone.
        self._number = max(self._number + 1, int(self.now * TICKS))
        tree = self._own[client, condition] = Tree(self.name, self._number)
        self._plant(tree, condition, None)

    def on_unadvertise(self, client: Name, condition: str) -> None:
        self._fell(self._own.pop((client, condition)), None)

    def on_neighbour_up(self, neighbour: Name) -> None:
        for tree, known in self._trees.items():
            self.send(neighbour, TreeAdvert(tree, known.condition))

    def on_neighbour_down(self, neighbour: Name) -> None:
        for tree, known in list(self._trees.items()):
            if known.parent == neighbour:
                self._fell(tree, None)
            else:
                self._want(tree, neighbour, tuple(known.wanted.get(neighbour, ())), ())

    def _plant(self, tree: Tree, condition: str, parent: Name | None) -> None:
        self._trees[tree] = Known(condition, parent, {})
        for neighbour in self.neighbours:
            if neighbour != parent:
                self.send(neighbour, TreeAdvert(tree, condition))
        if parent is not None:
            own = tuple(
                Subscription(self.name, client, wanted)
                for client, wanted in self.clients.pairs()
                if may_meet(condition, wanted, self._mode)
            )
            if own:
                self.send(parent, TreeSubscriptions(tree, (), own))

    def _fell(self, tree: Tree, source: Name | None) -> None:
        self._gone.add(tree)
        known = self._trees.pop(tree)
        for neighbour, below in known.wanted.items():
            for each in below:
                self._count((tree, neighbour), each.condition, -1)
        for neighbour in self.neighbours:
            if neighbour != source:
                self.send(neighbour, TreeGone(tree))
        owner = next((owner for owner, own in self._own.items() if own == tree), None)
        if owner is not None:
            self.on_advertise(*owner)

    # --- subscriptions -----------------------------------------------------------------------------------

    def on_subscribe(self, client: Name, condition: str) -> None:
        self._ask((), (Subscription(self.name, client, condition),))

    def on_unsubscribe(self, client: Name, condition: str) -> None:
        self._ask((Subscription(self.name, client, condition),), ())

    def _ask(self, gone: tuple[Subscription, ...], come: tuple[Subscription, ...]) -> None:
        """Tell the parents in all trees whose advertisement a subscription meets."""
        for tree, known in self._trees.items():
            if known.parent is not None and all(
                may_meet(known.condition, each.condition, self._mode) for each in (*gone, *come)
            ):
                self.send(known.parent, TreeSubscriptions(tree, gone, come))

    def _want(
        self, tree: Tree, neighbour: Name, gone: tuple[Subscription, ...], come: tuple[Subscription, ...]
    ) -> None:
        known = self._trees[tree]
        below = known.wanted.setdefault(neighbour, {})
        gone = tuple(each for each in gone if each in below)
        for each in gone:
            del below[each]
            self._count((tree, neighbour), each.condition, -1)
        come = tuple(each for each in come if each not in below)
        for each in come:
            below[each] = None
            self._count((tree, neighbour), each.condition, 1)
        if not below:
            del known.wanted[neighbour]
        if known.parent is not None and (gone or come):
            self.send(known.parent, TreeSubscriptions(tree, gone, come))

    def _count(self, row: Row, condition: str, change: int) -> None:
        """Several subscriptions behind a neighbour may have the same condition."""
        self._clients_of[row, condition] += change
        if self._clients_of[row, condition]:
            self._rows.add(row, condition)
        else:
            del self._clients_of[row, condition]
            self._rows.remove(row, condition)

    # --- events ------------------------------------------------------------------------------------------

    def on_publish(self, client: Name, event: Event) -> None:
        advert = self.advertised(client, event)
        if advert is None:
            self.record("refused")
        else:
            self._route(self._own[client, advert], event, None)

    def on_packet(self, neighbour: Name, packet: TreeAdvert | TreeGone | TreeSubscriptions | TreeEvent) -> None:
        known = packet.tree in self._trees
        match packet:
            case TreeEvent(tree, event):
                self._route(tree, event, neighbour)
            case TreeSubscriptions(tree, gone, come) if known:
                self._want(tree, neighbour, gone, come)
            case TreeAdvert(tree, condition) if not known and tree not in self._gone:
                self._plant(tree, condition, neighbour)
            case TreeAdvert(tree) if not known:
                # This side was cut off from a tree that stands on the other side: the root has to plant another.
                self.send(neighbour, TreeGone(tree))
            case TreeAdvert():
                self.record("duplicate advertisements")
            case TreeGone(tree) if known:
                self._fell(tree, neighbour)

    def _route(self, tree: Tree, event: Event, source: Name | None) -> None:
        self.record("matches")
        self.deliver(event, self.clients.interested(event.content))
        for wanted, neighbour in self._rows.interested(event.content):
            if wanted == tree and neighbour != source:
                self.send(neighbour, TreeEvent(tree, event))

    def stored(self) -> int:
        return len(self.clients) + sum(len(below) for known in self._trees.values() for below in known.wanted.values())

    def check_invariants(self) -> None:
        super().check_invariants()
        self._rows.check_invariants()
        assert set(self._own.values()) <= self._trees.keys()
        assert {(client, condition) for client, condition in self.adverts.pairs()} == self._own.keys()
        rows = {
            ((tree, neighbour), each.condition)
            for tree, known in self._trees.items()
            for neighbour, below in known.wanted.items()
            for each in below
        }
        assert rows == set(self._rows.pairs()) == self._clients_of.keys()
        for known in self._trees.values():
            assert known.parent is None or known.parent in self.neighbours
            assert known.wanted.keys() <= self.neighbours.keys()
