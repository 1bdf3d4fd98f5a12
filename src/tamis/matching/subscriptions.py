"""What keeps the subscriptions of an index: one protocol, for engines and for segments."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.language import Expression
from tamis.matching.errors import SubscriptionError
from tamis.matching.ranks.lists import Longs

Id: TypeAlias = str | int


class New(NamedTuple):
    """A subscription to be added: its condition, and as it was written."""

    id: Id
    expression: Expression
    text: str


class Found(NamedTuple):
    """The matches of rows: row r met `positions[offsets[r] : offsets[r + 1]]`, which `names` gives the ids of."""

    offsets: Longs
    positions: npt.NDArray[np.integer]
    names: Callable[[], pa.Array]


class Subscriptions(ABC):
    """Subscriptions by id. Ids that are given are `str` or `int`, all of one kind, and each occurs once."""

    @abstractmethod
    def accept(self, expression: Expression) -> None:
        """Raise `SubscriptionError` if a condition cannot be taken."""

    @property
    @abstractmethod
    def kind(self) -> type[str] | type[int] | None:
        """What ids are; none if there are none."""

    @abstractmethod
    def add(self, new: Iterable[New]) -> None:
        """Add subscriptions, all or none, also when one cannot be had. An id that is there is a `SubscriptionError`."""

    @abstractmethod
    def remove(self, ids: Sequence[Id]) -> None:
        """Remove subscriptions, all or none. An id that is not there is a `KeyError`."""

    @abstractmethod
    def replace(self, new: New) -> None:
        """Give a subscription that is there another condition. An id that is not there is a `KeyError`."""

    def check_new(self, ids: Sequence[Id]) -> None:
        """Raise `SubscriptionError` if an id is there."""
        known = np.flatnonzero(self.known(ids))
        if len(known):
            where = f"row {known[0]}: " if len(ids) > 1 else ""
            raise SubscriptionError(f"{where}subscription {ids[known[0]]!r} is there already; use replace to change it")

    def check_known(self, ids: Sequence[Id]) -> None:
        """Raise `KeyError` if an id is not there."""
        missing = np.flatnonzero(~self.known(ids))
        if len(missing):
            raise KeyError(f"there is no subscription {ids[missing[0]]!r}")

    @abstractmethod
    def known(self, ids: Sequence[Id]) -> npt.NDArray[np.bool_]:
        """Return for each id whether it is there."""

    @abstractmethod
    def condition(self, id: Id) -> Expression:
        """Return the condition of a subscription that is there."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __contains__(self, id: object) -> bool: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Id]: ...

    @abstractmethod
    def match(self, event: Mapping[str, Any], limit: int) -> list[Id]:
        """Return the ids that an event meets, each once, at most so many."""

    @abstractmethod
    def match_batches(self, batches: Sequence[pa.RecordBatch], limit: int, kept: bool) -> Found:
        """Return what each row of all batches meets, at one point in time: of each row at most so many.

        Only how many there are, and no positions, unless these are `kept`.
        """

    def shared_by(self, expression: Expression, negated: bool) -> int | None:  # noqa: ARG002 - some know it
        """Return how many subscriptions contain an expression, or its negation, where that is known."""
        return None

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """Return sizes and bytes, and in `candidates` how many subscriptions events were compared with."""

    @abstractmethod
    def save(self, path: Path) -> None:
        """Write everything to a folder, where it appears only when it is complete."""

    def settle(self) -> None:  # noqa: B027 - most have nothing to wait for
        """Wait until nothing is left to be done in the background for the changes up to now."""

    @abstractmethod
    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""


def limited(offsets: Longs, positions: npt.NDArray[Any], limit: int, kept: bool) -> tuple[Longs, npt.NDArray[Any]]:
    """Return matches without those of a row beyond a limit, or without positions."""
    counts = np.diff(offsets)
    if counts.max(initial=0) > limit:
        within = np.arange(len(positions)) - np.repeat(offsets[:-1], counts) < limit
        offsets, positions = np.concatenate(([0], np.cumsum(np.minimum(counts, limit)))), positions[within]
    return offsets, positions if kept else positions[:0]


def stacked(
    found: Sequence[tuple[Longs, npt.NDArray[Any]]],
    each: Callable[[Callable[[int], None], Sequence[int]], Iterable[None]] = map,
) -> tuple[Longs, npt.NDArray[Any]]:
    """Return the offsets and positions of several runs of rows as those of one; `each` may copy several at a time."""
    if len(found) == 1:
        return found[0]
    starts = np.cumsum([0, *(len(positions) for _, positions in found)])
    offsets = [ends[:-1] + start for (ends, _), start in zip(found, starts, strict=False)]
    positions = np.empty(starts[-1], np.result_type(np.int32, *(positions for _, positions in found)))

    def copy(run: int) -> None:
        positions[starts[run] : starts[run + 1]] = found[run][1]

    # All are copied once this has gone through.
    deque(each(copy, range(len(found))), maxlen=0)
    return np.concatenate([*offsets, starts[-1:]]), positions
