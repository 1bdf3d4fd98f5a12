"""What stands behind a cover table: it keeps conditions under handles and decides which are forwarded.

The graphs share one keeper. Another way to do it is one file with a function decorated with `@register(name)`, imported
in `tamis.covering`; `CoverTable(graph=name)` then finds it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeAlias

from tamis.covering.conditions import Conditions
from tamis.covering.containment import Shape
from tamis.covering.detectors import detector_class
from tamis.covering.graphs import Change, Graph, graphs
from tamis.covering.graphs.flat import Flat


class Keeper(ABC):
    """Conditions that can match, by handle. Nothing is added twice or removed without having been added.

    Every condition is forwarded, or covered by one that is, or by several of these together.
    """

    @abstractmethod
    def add(self, handle: int, shape: Shape) -> Change:
        """Take in a condition; return handles to forward and to withdraw."""

    @abstractmethod
    def remove(self, handle: int) -> Change:
        """Let a condition go; return handles to forward and to withdraw."""

    @abstractmethod
    def forwarded(self) -> Collection[int]:
        """Return the handles that are forwarded."""

    @abstractmethod
    def above(self, handle: int) -> Iterable[int]:
        """Return handles of conditions known to cover one: none if it is forwarded or only several cover it."""

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """Return figures about the structure and its work."""

    @abstractmethod
    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""


class Related(Keeper):
    """A relation graph over conditions."""

    def __init__(self, graph: str, k: int, detector: str) -> None:
        made = graphs()[graph]
        detector_class(detector)
        self._conditions = Conditions(detector if made.asks else None)
        self._graph: Graph = Flat(self._conditions, k) if made is Flat else made(self._conditions)

    def add(self, handle: int, shape: Shape) -> Change:
        self._conditions.add(handle, shape)
        return self._graph.add(handle)

    def remove(self, handle: int) -> Change:
        self._conditions.remove(handle)
        return self._graph.remove(handle)

    def forwarded(self) -> Collection[int]:
        return self._graph.forwarded()

    def above(self, handle: int) -> Iterable[int]:
        return self._graph.above(handle)

    def stats(self) -> dict[str, Any]:
        conditions = self._conditions
        return {
            "undecided": len(conditions.undecided.intersection(self.forwarded())),
            "compared": conditions.compared,
            "cov_calls": conditions.calls,
            "candidates": conditions.candidates,
            "confirmed": conditions.confirmed,
            "touched": conditions.touched,
            "attribute_sets": conditions.groups,
        }

    def check_invariants(self) -> None:
        self._conditions.check_invariants()


#: Makes an empty keeper for a k and the name of a detector.
Maker: TypeAlias = Callable[[int, str], Keeper]

_registry: dict[str, Maker] = {}


def register(name: str) -> Callable[[Maker], Maker]:
    """Register what makes a keeper under a name that is no graph's."""

    def decorate(maker: Maker) -> Maker:
        if name in keepers():
            raise ValueError(f"there is a graph named {name!r} already")
        _registry[name] = maker
        return maker

    return decorate


def keepers() -> list[str]:
    """Return the names that `make_keeper` knows."""
    return sorted([*graphs(), *_registry])


def make_keeper(name: str, k: int, detector: str) -> Keeper:
    """Return a new, empty keeper."""
    if name in _registry:
        return _registry[name](k, detector)
    if name not in graphs():
        raise ValueError(f"there is no graph {name!r}; there are: {', '.join(keepers())}")
    return Related(name, k, detector)
