"""What a relation graph is (specs/000 §5), what it stands on, and the registry of graphs.

A graph knows subscriptions by *handle*, an integer, and decides which of them are *forwarded*: enough that every
subscription is covered by one that is. Whether one covers another it asks a *relation*, so the same graphs serve boxes
and conditions of any shape. Of two equal subscriptions each could make the other needless, and none would be forwarded
(specs/000 §5): so no relation may lead round in a circle.
A relation may miss that one covers another, and graphs forward more then; it must not be wrong.

A new graph is one file with a class decorated with `@register(name)`; importing that file in `tamis.covering.graphs`
puts it under the conformance suite.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, NamedTuple, TypeVar

from tamis.covering.detectors.detector import NOBODY, Longs


class Change(NamedTuple):
    """What to tell the next broker: all of `forward` before any of `withdraw`, so that no event is missed meanwhile."""

    forward: tuple[Any, ...] = ()
    withdraw: tuple[Any, ...] = ()


#: Nothing to tell.
UNCHANGED: Final = Change()


class Relation(ABC):
    """Which subscription covers which. A subscription is in it before a graph adds it and until it removes it."""

    #: Pairs that were compared on behalf of a graph.
    compared = 0

    @abstractmethod
    def covers(self, a: int, b: int) -> bool:
        """Return whether it is certain that a covers b."""

    @abstractmethod
    def coverers(self, handle: int, limit: int) -> list[int]:
        """Return subscriptions that cover one, not itself: all if they are fewer than the limit."""

    def covering(self, among: Longs, handle: int) -> list[int]:
        """Return those of some subscriptions that cover one."""
        self.compared += len(among)
        return [each for each in among.tolist() if self.covers(each, handle)]

    def covered(self, among: Longs, handle: int) -> list[int]:
        """Return those of some subscriptions that one covers."""
        self.compared += len(among)
        return [each for each in among.tolist() if self.covers(handle, each)]

    def placed(self, among: Longs, handle: int) -> tuple[int, list[int]]:
        """Return the first of some subscriptions that covers one; if none does, all that it covers."""
        self.compared += len(among)
        under: list[int] = []
        for each in among.tolist():
            if self.covers(each, handle):
                return each, []
            if self.covers(handle, each):
                under.append(each)
        return NOBODY, under


class Graph(ABC):
    """Subscriptions and which of them are forwarded. Nothing is added twice or removed without having been added."""

    #: Whether it asks the relation for coverers, which needs a detector.
    asks = False

    def __init__(self, relation: Relation) -> None:
        self.relation = relation

    @abstractmethod
    def add(self, handle: int) -> Change:
        """Take in a subscription, which is in the relation."""

    @abstractmethod
    def remove(self, handle: int) -> Change:
        """Let a subscription go, which is no longer in the relation."""

    @abstractmethod
    def forwarded(self) -> Collection[int]:
        """Return the subscriptions that the next broker should have."""

    @abstractmethod
    def above(self, handle: int) -> Iterable[int]:
        """Return subscriptions known to cover one: none if and only if it is forwarded."""

    @abstractmethod
    def check_invariants(self) -> None:
        """Raise `AssertionError` if the graph is not what it should be."""


G = TypeVar("G", bound=type[Graph])

_registry: dict[str, type[Graph]] = {}


def register(name: str) -> Callable[[G], G]:
    """Register a graph class, which takes a relation, under a name."""

    def decorate(graph: G) -> G:
        if name in _registry:
            raise ValueError(f"there is a graph named {name!r} already")
        _registry[name] = graph
        return graph

    return decorate


def graphs() -> dict[str, type[Graph]]:
    """Return all graphs by name."""
    return dict(_registry)
