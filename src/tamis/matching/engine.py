"""What an engine is, and the registry of engines.

An engine answers one question: which of the stored expressions does an event meet? It knows subscriptions by
*position*, a small integer that the index gives out and may give out again after a removal.
A new algorithm is one file with a class decorated with `@register(name, capabilities)`; importing that file in
`tamis.matching.algorithms` makes it available everywhere and puts it under the conformance suite.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.language import Expression

#: The matches of a batch: row r met the positions `positions[offsets[r]:offsets[r + 1]]`.
Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine can do. The index makes up for everything it cannot, except for `arbitrary`."""

    #: Takes any expression; otherwise only conjunctions, that is one set of values for each attribute.
    arbitrary: bool
    #: Never answers more than what matches; otherwise the index checks every answer.
    exact: bool
    #: Takes additions and removals at any time; otherwise the index builds it anew after changes.
    dynamic: bool
    #: Matches columns without making a Python object for each row.
    batch: bool
    #: One line on how it works and where it comes from.
    summary: str


class Engine(ABC):
    """Stores expressions under positions. Nothing is added twice or removed without having been added."""

    @abstractmethod
    def add(self, position: int, expression: Expression) -> None:
        """Store an expression."""

    def add_many(self, positions: Sequence[int], expressions: Sequence[Expression]) -> None:
        """Store many expressions: one by one, unless the engine can do better."""
        for position, expression in zip(positions, expressions, strict=True):
            self.add(position, expression)

    def remove(self, position: int) -> None:  # noqa: ARG002 - dynamic engines use it
        """Forget an expression. Called only if the engine is dynamic."""
        raise TypeError(f"{type(self).__name__} is not dynamic")

    @abstractmethod
    def match(self, event: Mapping[str, Any]) -> list[int]:
        """Return the positions that an event meets, each once, in any order."""

    def find(self, event: Mapping[str, Any], limit: int) -> list[int]:
        """Return positions that an event meets, not more than `limit`; some engines stop as soon as they are found."""
        return self.match(event)[:limit]

    def match_batch(self, batch: pa.RecordBatch) -> Rows:
        """Return the positions that each row meets: row by row, unless the engine can do better."""
        found = [self.match(row) for row in batch.to_pylist()]
        offsets = np.zeros(len(found) + 1, np.int64)
        np.cumsum([len(positions) for positions in found], out=offsets[1:])
        return offsets, np.array([position for positions in found for position in positions], np.int64)

    def shared_by(self, expression: Expression, negated: bool) -> int | None:  # noqa: ARG002 - some engines know
        """Return how many subscriptions contain an expression, or its negation; None where that is not known."""
        return None

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """Return figures about the structure and its work, at least `candidates` (in all) and `bytes`."""

    def check_invariants(self) -> None:  # noqa: B027 - an engine without structure has nothing to check
        """Raise `AssertionError` if the structure is not what it should be."""


E = TypeVar("E", bound=type[Engine])

_registry: dict[str, tuple[type[Engine], Capabilities]] = {}


def register(name: str, capabilities: Capabilities) -> Callable[[E], E]:
    """Register an engine class under a name."""

    def decorate(engine: E) -> E:
        if name in _registry:
            raise ValueError(f"there is an engine named {name!r} already")
        _registry[name] = engine, capabilities
        return engine

    return decorate


def engines() -> dict[str, Capabilities]:
    """Return the names of all engines with what they can do."""
    return {name: capabilities for name, (_, capabilities) in _all_engines().items()}


def make_engine(name: str) -> Engine:
    """Return a new, empty engine."""
    found = _all_engines()
    if name not in found:
        raise ValueError(f"there is no engine {name!r}; there are: auto, {', '.join(sorted(found))}")
    return found[name][0]()


def _all_engines() -> dict[str, tuple[type[Engine], Capabilities]]:
    import_module("tamis.matching.algorithms")
    return _registry
