"""Children with filters, such as `like '%x%'`: they have no complement, so they may overlap their siblings."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

from tamis.routing.prefix.region import Cut, Region

#: Texts are found by pieces of this length.
_PIECE: Final = 3


class Child(Protocol):
    """Whatever has a region."""

    @property
    def region(self) -> Region:
        """The values that lead here."""


C = TypeVar("C", bound=Child)


class Odd(Generic[C]):
    """The children of one node with filters on one attribute.

    Those that ask for no more than a piece of text are many where texts are searched (specs/004 E5), so they are found
    without going through all of them: those within a text by how they begin, those around a text by any piece of it.
    """

    __slots__ = ("_around", "_begin", "_others", "_short")

    def __init__(self) -> None:
        self._begin: dict[str, dict[str, C]] = {}
        self._around: dict[str, dict[C, None]] = {}
        self._short: dict[str, C] = {}
        self._others: dict[C, None] = {}

    def add(self, child: C) -> None:
        """Add a child; no other has the same region."""
        needle = child.region.needle
        if needle is None:
            self._others[child] = None
            return
        if len(needle) < _PIECE:
            self._short[needle] = child
        else:
            self._begin.setdefault(needle[:_PIECE], {})[needle] = child
        for piece in _pieces(needle):
            self._around.setdefault(piece, {})[child] = None

    def remove(self, child: C) -> None:
        """Remove a child."""
        needle = child.region.needle
        if needle is None:
            del self._others[child]
            return
        if len(needle) < _PIECE:
            del self._short[needle]
        else:
            begin = self._begin[needle[:_PIECE]]
            del begin[needle]
            if not begin:
                del self._begin[needle[:_PIECE]]
        for piece in _pieces(needle):
            around = self._around[piece]
            del around[child]
            if not around:
                del self._around[piece]

    def __iter__(self) -> Iterator[C]:
        yield from self._short.values()
        for begin in self._begin.values():
            yield from begin.values()
        yield from self._others

    def __bool__(self) -> bool:
        return bool(self._short or self._begin or self._others)

    def find(self, region: Region) -> C | None:
        """Return the child with exactly this region."""
        needle = region.needle
        if needle is None:
            return next((each for each in self._others if each.region == region), None)
        texts = self._short if len(needle) < _PIECE else self._begin.get(needle[:_PIECE], {})
        return texts.get(needle)

    def covering(self, region: Region) -> list[C]:
        """Return the children that may cover a region: of texts, those within it."""
        return list(self) if region.needle is None else [*self._within(region.needle), *self._others]

    def related(self, region: Region) -> list[C]:
        """Return the children that may cover a region or be covered by it: of two texts, one has the other."""
        needle = region.needle
        if needle is None:
            return list(self)
        return [*dict.fromkeys((*self._within(needle), *self._all_around(needle))), *self._others]

    def met(self, point: Cut, value: Any, event: Mapping[str, Any]) -> list[C]:
        """Return the children that accept the value of an event, which stands at a point."""
        found = self._within(value) if isinstance(value, str) else []
        return found + [each for each in self._others if each.region.holds(point, value, event)]

    def _within(self, text: str) -> list[C]:
        found = [child for needle, child in self._short.items() if needle in text]
        if self._begin:
            seen: dict[C, None] = {}
            for at in range(len(text) - _PIECE + 1):
                begin = self._begin.get(text[at : at + _PIECE])
                if begin is not None:
                    seen.update((child, None) for needle, child in begin.items() if text.startswith(needle, at))
            found += seen
        return found

    def _all_around(self, needle: str) -> list[C]:
        if len(needle) < _PIECE:
            return [child for child in self if child.region.needle is not None and needle in child.region.needle]
        fewest = min((self._around.get(piece, {}) for piece in _pieces(needle)), key=len)
        return [child for child in fewest if needle in (child.region.needle or "")]


def _pieces(needle: str) -> dict[str, None]:
    return dict.fromkeys(needle[at : at + _PIECE] for at in range(len(needle) - _PIECE + 1))
