"""What a structure for value-based notification is, and the registry of structures.

A structure answers one question: whom does a new value affect? It knows subscriptions by *handle*, a small integer that
its user gives out. A new algorithm is one file with a class decorated with `@register(name, case)`; importing that file
in `tamis.notification` makes it available to `Watch` and puts it under the tests that all structures pass.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np

from tamis.notification.affected import AffectedRange, Place, Relabelling
from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import LAWS, Law

Radii = Literal["same", "different", "all"]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """What a structure serves."""

    #: `same`: all have one radius, with different centres. `different`: those of one radius have one centre, because a
    #: new one takes over that of its radius (specs/003 F13). `all`: any radii, each subscription with its own centre.
    radii: Radii
    #: Says who is affected as ranges; otherwise only as a list.
    ranges: bool
    #: Takes two radii, from where a subscription may be told and from where it must be (F11).
    loose: bool
    laws: tuple[Law, ...] = LAWS
    #: One line on how it works and where it comes from.
    summary: str


class Row(NamedTuple):
    """A subscription with its state; label and epoch are 0 where a structure has none."""

    handle: int
    may: float
    must: float
    centre: float
    label: int
    epoch: int


class Structure(ABC):
    """Subscriptions to one value, unknown at first. A subscription is told when the value leaves its interval.

    Nothing is added twice or removed without having been added; radii and values have been checked (`law`). With
    `relaxed`, a new subscription takes over the centre of its radius (F13). With `loose`, subscriptions may have two
    radii (F11); with `trim`, a run of those that may be told begins and ends with one that must be.
    """

    case: ClassVar[Case]

    def __init__(self, law: Law = "absolute", relaxed: bool = False, loose: bool = False, trim: bool = False) -> None:
        if law not in self.case.laws:
            raise ValueError(f"{type(self).__name__} takes no {law} radii; it takes: {', '.join(self.case.laws)}")
        if loose and not self.case.loose:
            raise ValueError(f"{type(self).__name__} takes one radius, not two")
        self.law = law
        self.loose = loose
        self.code = LAWS.index(law)
        self.relaxed = relaxed or self.case.radii == "different"
        self.trim = trim
        self.value: float | None = None
        #: Who was affected by the last update: how many, as how many ranges, and how many nodes were looked at.
        self.affected_count = 0
        self.range_count = 0
        self.visits = 0
        self._pending: dict[int, tuple[float, float]] = {}
        #: How many labels were given to subscriptions that are told from others with the same radii only by that.
        self.serial = 0
        #: In a structure for one radius: that one.
        self._only: tuple[float, float] | None = None

    def add(self, handle: int, may: float, must: float) -> float | None:
        """Add a subscription; return the value that it is told, or None if there is none yet."""
        return self.add_many([handle], np.array([may]), np.array([must]))[0]

    def add_many(self, handles: Sequence[int], mays: Doubles, musts: Doubles) -> list[float | None]:
        """Add many subscriptions, and return for each what `add` does."""
        if not self.loose and (mays != musts).any():
            raise ValueError(f"this {type(self).__name__} takes one radius, not two")
        self._check_radii(mays, musts)
        if self.value is None:
            self._pending.update(zip(handles, zip(mays.tolist(), musts.tolist(), strict=True), strict=True))
            return [None] * len(handles)
        return list(self._insert(np.array(handles, np.int64), mays, musts, self.value))

    def remove(self, handle: int) -> None:
        """Remove a subscription."""
        if self._pending.pop(handle, None) is None:
            self._delete(handle)

    def check_value(self, value: float) -> None:  # noqa: B027 - most take every value
        """Raise a `ValueError` for a value that this structure cannot take."""

    def update(self, value: float) -> None:
        """Take a new value; `affected` and `ranges` then tell whom it affects. The first one is for everybody."""
        self.check_value(value)
        if value == self.value:
            # Also where a radius is lost in rounding: who is told of a value is not told of it again.
            self.affected_count = self.range_count = self.visits = 0
            self._move(None)
        elif self.value is None:
            self.value = value
            radii = np.array(list(self._pending.values())).reshape(-1, 2)
            self._insert(np.fromiter(self._pending, np.int64), radii[:, 0].copy(), radii[:, 1].copy(), value)
            self._pending.clear()
            self._first()
        else:
            self._move(value)
            self.value = value

    @abstractmethod
    def affected(self) -> Longs:
        """Return the handles of those whom the last update affected. Asked before anything else changes."""

    def ranges(self) -> list[AffectedRange]:
        """Return the same as ranges, in order. Asked before anything else changes."""
        raise TypeError(f"{type(self).__name__} makes lists, no ranges")

    def place(self, handle: int) -> Place:
        """Return where a subscription stands, in the terms of `ranges`."""
        row = self.row(handle)
        return Place(self.law, row.may, row.must, row.label, row.epoch, self.loose)

    def relabellings(self) -> list[Relabelling]:
        """Return what became of labels since this was asked last; an arc must not be sent before them.

        Nothing is noted down for those who never ask: the first answer is empty.
        """
        return []

    @abstractmethod
    def row(self, handle: int) -> Row:
        """Return a subscription with its state; not one that waits for the first value."""

    @abstractmethod
    def rows(self) -> list[Row]:
        """Return all subscriptions but those that wait for the first value."""

    def pending(self) -> dict[int, tuple[float, float]]:
        """Return the radii of those that wait for the first value."""
        return dict(self._pending)

    def load(self, rows: Sequence[Row], value: float) -> None:
        """Take the state of another structure of this kind, while there is none: `rows` and its value."""
        self._check_radii(np.array([row.may for row in rows]), np.array([row.must for row in rows]))
        self.value = value
        self._restore(rows)

    @abstractmethod
    def __len__(self) -> int:
        """Return how many subscriptions there are, those that wait included."""

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something is not what it should be."""
        assert self.value is None or not self._pending

    def _check_radii(self, mays: Doubles, musts: Doubles) -> None:
        if self.case.radii != "same" or not len(mays):
            return
        if self._only is None or not len(self):
            self._only = float(mays[0]), float(musts[0])
        other = (mays != self._only[0]) | (musts != self._only[1])
        if other.any():
            found = float(mays[other][0]), float(musts[other][0])
            raise ValueError(f"{type(self).__name__} is for one radius: here {self._only}, not {found}")

    @abstractmethod
    def _restore(self, rows: Sequence[Row]) -> None:
        """Take the state of another structure of this kind."""

    @abstractmethod
    def _insert(self, handles: Longs, mays: Doubles, musts: Doubles, value: float) -> list[float]:
        """Add subscriptions at a value; return their centres."""

    @abstractmethod
    def _delete(self, handle: int) -> None:
        """Remove a subscription that does not wait."""

    @abstractmethod
    def _move(self, value: float | None) -> None:
        """Find and move all whom a value affects; for None, which stands for no move, nobody."""

    @abstractmethod
    def _first(self) -> None:
        """Take note that everybody is affected, by the first value."""


S = TypeVar("S", bound=type[Structure])

_registry: dict[str, type[Structure]] = {}


def register(name: str, case: Case) -> Callable[[S], S]:
    """Register a structure under a name, with what it serves."""

    def decorate(structure: S) -> S:
        if name in _registry:
            raise ValueError(f"there is a structure named {name!r} already")
        structure.case = case
        _registry[name] = structure
        return structure

    return decorate


def structures() -> dict[str, Case]:
    """Return the names of all structures with what they serve."""
    return {name: structure.case for name, structure in _registry.items()}


def structure_class(name: str) -> type[Structure]:
    """Return the structure of a name."""
    if name not in _registry:
        raise ValueError(f"there is no engine {name!r}; there are: auto, {', '.join(sorted(_registry))}")
    return _registry[name]
