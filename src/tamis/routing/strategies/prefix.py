"""Prefix forwarding: an event is matched by content once and forwarded by numbers (specs/004 §4, thesis chapter 4)."""

import heapq
from collections.abc import Collection, Iterable
from typing import Final, Literal, TypeAlias

import msgspec

from tamis.routing.broker import Capabilities, Options
from tamis.routing.packets import AnyPacket, Event, Filters, Least, Name, Prefixed, RoutingTreeUpdate
from tamis.routing.prefix import Epochs, ForwardingTree, Optimizer, Split, decoded, filters_of
from tamis.routing.prefix.filters import is_coarse
from tamis.routing.prefix.optimizer import THRESHOLD
from tamis.routing.registry import register
from tamis.routing.strategies.identity import Identity

#: A neighbour, a client, or all clients together.
_Side: TypeAlias = tuple[Literal["neighbour", "client", "clients"], Name]
_CLIENTS: Final[_Side] = ("clients", "")
_TIMER: Final = "routing tree"
#: What the least name of a side is known by among items; no condition begins like that.
_LEAST: Final = "@least "
_NAMES: Final = msgspec.json.Decoder(Name)


class PrefixOptions(Options, frozen=True, kw_only=True):
    """How long prefixes are, and when there is a new tree."""

    #: How deep into the tree an event is matched; everything below is taken as met. None: all of it.
    depth: int | None = None
    #: A new tree is published when it differs by more from the last one (0 to 1).
    threshold: float = THRESHOLD
    #: After so many seconds a tree is published even if it differs by less.
    interval: float | None = None
    #: Where a filter is split by the tree: `fork` tags both halves, `stop` the node above.
    split: Split = "fork"
    #: Whether a broker compares an event with its clients' conditions before it delivers.
    verify_at_edge: bool = True

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 0:
            raise ValueError(f"the depth is 0 or more, not {self.depth}")
        if self.interval is not None and self.interval <= 0:
            raise ValueError(f"the interval is more than 0 seconds, not {self.interval}")
        Optimizer(self.threshold)


@register(
    "prefix",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="matched by content once, forwarded by a part of the routing tree; verified at the edge",
    ),
)
class Prefix(Identity):
    """Knows every condition of the overlay. The first broker finds the prefix of an event, all forward by it alone.

    Conditions spread by identity: the optimiser has to know all of them, each once, and a broker has to know behind
    which neighbour they are, but not how often. The optimiser is the broker with the least name among those that are
    connected. Every broker tells each neighbour the least name on its own side, which on a tree is always right in the
    end, whoever comes and goes; and as it has all conditions, every broker can take over. Until all agree there may be
    several optimisers or none. That costs messages but no events: a prefix names its tree by its content, and where
    that tree is unknown an event goes to all sides that want anything.
    """

    Settings = PrefixOptions
    #: What is known of the least name is not said again.
    soft = False
    speaks = (Prefixed, Filters, RoutingTreeUpdate, Least)

    def __init__(self, name: Name, options: PrefixOptions) -> None:
        super().__init__(name, options)
        self._options = options
        self._epochs: Epochs[_Side] = Epochs(options.split)
        #: The least name behind each neighbour that has told it, and what each neighbour was told.
        self._least: dict[Name, Name] = {}
        self._told: dict[Name, Name] = {}
        #: Only here while this broker is the optimiser.
        self._optimizer: Optimizer | None = None
        self._timed = False
        self._elect()

    @classmethod
    def capabilities(cls, options: Options, default: Capabilities) -> Capabilities:
        assert isinstance(options, PrefixOptions)
        return msgspec.structs.replace(default, exact=options.verify_at_edge)

    # --- conditions --------------------------------------------------------------------------------------

    def on_subscribe(self, client: Name, condition: str) -> None:
        if is_coarse(condition):
            self.record("coarse")
        self._add(self._side_of(client), condition)
        super().on_subscribe(client, condition)
        self._publish_tree()

    def on_unsubscribe(self, client: Name, condition: str) -> None:
        self._remove(self._side_of(client), condition)
        super().on_unsubscribe(client, condition)
        self._publish_tree()

    def change(self, source: Name | None, gone: tuple[str, ...], come: tuple[str, ...]) -> None:
        if source is not None:
            for condition in gone:
                self._remove(("neighbour", source), condition)
            for condition in come:
                self._add(("neighbour", source), condition)
        super().change(source, gone, come)

    def _side_of(self, client: Name) -> _Side:
        return _CLIENTS if self._options.verify_at_edge else ("client", client)

    def _add(self, side: _Side, condition: str) -> None:
        for wanted in filters_of(condition):
            self._epochs.add(side, wanted)
            if self._optimizer is not None:
                self._optimizer.add(wanted)

    def _remove(self, side: _Side, condition: str) -> None:
        for wanted in filters_of(condition):
            self._epochs.remove(side, wanted)
            if self._optimizer is not None:
                self._optimizer.remove(wanted)

    # --- the tree and who makes it -----------------------------------------------------------------------

    def on_neighbour_up(self, neighbour: Name) -> None:
        super().on_neighbour_up(neighbour)
        self._elect()
        if self._epochs.newest.epoch:
            self.send(neighbour, RoutingTreeUpdate(self._epochs.newest.encoded))

    def on_neighbour_down(self, neighbour: Name) -> None:
        super().on_neighbour_down(neighbour)
        self._least.pop(neighbour, None)
        del self._told[neighbour]
        self._elect()

    def on_packet(self, neighbour: Name, packet: Prefixed | Filters | RoutingTreeUpdate | Least) -> None:  # type: ignore[override] # of `speaks`
        match packet:
            case Prefixed(event, prefix):
                self._forward(event, prefix, neighbour)
            case RoutingTreeUpdate(tree):
                self._switch(tree, neighbour)
            case Least(broker):
                self._least[neighbour] = broker
                self._elect()
            case _:
                super().on_packet(neighbour, packet)
                self._publish_tree()

    def _elect(self) -> None:
        """Tell the neighbours the least name on this side, as far as it has changed; become the optimiser, or cease."""
        least, others = self._least_names()
        for neighbour, told in others.items():
            if self._told.get(neighbour) != told:
                self._told[neighbour] = told
                self.send(neighbour, Least(told))
        if least != self.name:
            self._optimizer = None
        elif self._optimizer is None:
            self._optimise()
            self._publish_tree()

    def _least_names(self) -> tuple[Name, dict[Name, Name]]:
        """Return the least name of all, and for each neighbour the least one of all other sides."""
        sides: list[tuple[Name, Name | None]] = [
            (self.name, None),
            *((name, behind) for behind, name in self._least.items()),
        ]
        # Of what it told itself a neighbour hears nothing, so the second least is needed, too.
        (least, source), *second = heapq.nsmallest(2, sides, key=lambda side: _rank(side[0]))
        return least, {each: second[0][0] if each == source else least for each in self.neighbours}

    def _optimise(self) -> None:
        """Be the optimiser."""
        self._optimizer = Optimizer(self._options.threshold, self._options.interval)
        self._optimizer.learn(self._epochs.newest)
        for wanted in self._epochs.filters():
            self._optimizer.add(wanted)

    def _publish_tree(self) -> None:
        """If this is the optimiser and it is time, switch to a new tree and tell everybody."""
        if self._optimizer is None:
            return
        update = self._optimizer.update(self.now)
        if update is not None:
            self._switch(update.encoded, None)
        elif self._options.interval is not None and not self._timed and self._optimizer.difference > 0:
            self._timed = True
            self.set_timer(_TIMER, self._options.interval)

    def on_timer(self, timer: str) -> None:  # noqa: ARG002 - there is one
        self._timed = False
        self._publish_tree()

    def _switch(self, tree: bytes, source: Name | None) -> None:
        try:
            snapshot = decoded(tree)
        except ValueError:
            self.record("refused")
            return
        if not self._epochs.switch(snapshot):
            return
        self.record("trees")
        for neighbour in self.neighbours:
            if neighbour != source:
                self.send(neighbour, RoutingTreeUpdate(tree))
        if self._optimizer is not None and source is not None:
            self._optimizer.learn(snapshot)
            self._publish_tree()

    # --- what can be mended ------------------------------------------------------------------------------

    def own(self) -> list[str]:
        return [*super().own(), _spelt(self.name)]

    def held(self, neighbour: Name) -> list[str]:
        least = [_spelt(self._least[neighbour])] if neighbour in self._least else []
        return [*super().held(neighbour), *least]

    def hold(self, neighbour: Name, items: Iterable[str]) -> None:
        conditions, names = _parted(items)
        super().hold(neighbour, conditions)
        self._least.pop(neighbour, None)
        self._least.update((neighbour, name) for name in names)

    def owed(self, neighbour: Name) -> list[str]:
        return [*super().owed(neighbour), _spelt(self._least_names()[1][neighbour])]

    def told(self, neighbour: Name) -> list[str]:
        least = [_spelt(self._told[neighbour])] if neighbour in self._told else []
        return [*super().told(neighbour), *least]

    def derive(self) -> None:
        super().derive()
        self._least = {side: name for side, name in self._least.items() if side in self.neighbours}
        least, self._told = self._least_names()
        self._optimizer = None
        self._epochs = self._epochs.emptied()
        for client, condition in self.clients.pairs():
            self._add(self._side_of(client), condition)
        for neighbour, condition in self.wanted.pairs():
            self._add(("neighbour", neighbour), condition)
        if least == self.name:
            self._optimise()

    def is_item(self, text: str) -> bool:
        if not text.startswith(_LEAST):
            return super().is_item(text)
        try:
            return _spelt(_NAMES.decode(text.removeprefix(_LEAST))) == text
        except msgspec.DecodeError:
            return False

    def news(self, gone: Collection[str], come: Collection[str]) -> list[AnyPacket]:
        (conditions_gone, _), (conditions_come, names) = _parted(gone), _parted(come)
        return [*super().news(conditions_gone, conditions_come), *map(Least, names)]

    def after(self, held: Collection[str], packet: AnyPacket) -> list[str]:
        if not isinstance(packet, Least):
            return super().after(held, packet)
        return [*(each for each in held if not each.startswith(_LEAST)), _spelt(packet.broker)]

    def agrees(self, held: Collection[str], there: Collection[str], here: Collection[str]) -> bool:
        (conditions, names), (conditions_there, names_there) = _parted(held), _parted(there)
        return super().agrees(conditions, conditions_there, here) and names == [min(names_there, key=_rank)]

    # --- events ------------------------------------------------------------------------------------------

    def route(self, event: Event, source: Name | None) -> None:
        self.record("matches")
        self._forward(event, self._epochs.extract(event.content, self._options.depth), source)

    def _forward(self, event: Event, prefix: ForwardingTree, source: Name | None) -> None:
        if not self._epochs.knows(prefix):
            self.record("unknown_trees")
        found = self._epochs.forward(prefix)
        if _CLIENTS in found:
            self.record("matches")
            self.deliver(event, self.clients.interested(event.content))
        elif not self._options.verify_at_edge:
            self.deliver(event, sorted((name for kind, name in found if kind == "client"), key=_rank))
        for neighbour in self.neighbours:
            if neighbour != source and ("neighbour", neighbour) in found:
                self.send(neighbour, Prefixed(event, prefix))

    def check_invariants(self) -> None:
        super().check_invariants()
        self._epochs.check_invariants()
        assert self._told.keys() == self.neighbours.keys()
        held: dict[_Side, int] = {}
        for client, condition in self.clients.pairs():
            side = self._side_of(client)
            held[side] = held.get(side, 0) + len(filters_of(condition))
        for neighbour, condition in self.wanted.pairs():
            held["neighbour", neighbour] = held.get(("neighbour", neighbour), 0) + len(filters_of(condition))
        assert {side: count for side, count in held.items() if count} == self._epochs.counts()
        if self._optimizer is not None:
            self._optimizer.tree.check_invariants()


def _rank(name: Name) -> tuple[bool, Name]:
    """Numbers come before texts."""
    return isinstance(name, str), name


def _spelt(name: Name) -> str:
    return _LEAST + msgspec.json.encode(name).decode()


def _parted(items: Iterable[str]) -> tuple[list[str], list[Name]]:
    """Return the conditions and the names among items."""
    listed = list(items)
    names = [_NAMES.decode(each.removeprefix(_LEAST)) for each in listed if each.startswith(_LEAST)]
    return [each for each in listed if not each.startswith(_LEAST)], names
