"""Regions as they go over a link."""

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

import msgspec

from tamis.language import ArrayContains, Kind, Like, parse
from tamis.routing.prefix.region import Cut, Region


class WireRegion(msgspec.Struct, frozen=True, array_like=True):
    """A region of plain values: times are written out, filters are texts."""

    name: str
    cuts: tuple[tuple[Any, ...], ...]
    filters: tuple[str, ...]


_READ: Final[dict[int, Callable[[str], Any]]] = {
    Kind.TIMESTAMP: dt.datetime.fromisoformat,
    Kind.DATE: dt.date.fromisoformat,
}


def to_wire(region: Region) -> WireRegion:
    """Return a region as it is sent."""
    return WireRegion(region.name, tuple(map(_written, region.cuts)), tuple(map(str, region.filters)))


def from_wire(sent: WireRegion) -> Region:
    """Return a region as it was sent; `ValueError` if it was none."""
    filters = []
    for text in sent.filters:
        found = parse(text)
        if not isinstance(found, Like | ArrayContains):
            raise ValueError(f"{text!r} is no filter of a region")
        filters.append(found)
    if not sent.cuts or len(sent.cuts) % 2:
        raise ValueError(f"a region of {sent.name!r} has {len(sent.cuts)} cuts; it needs a low and a high one")
    return Region(sent.name, tuple(map(_read, sent.cuts)), tuple(filters))


def _written(cut: Cut) -> tuple[Any, ...]:
    return (cut[0], cut[1].isoformat(), cut[2]) if cut[0] in _READ and len(cut) > 1 else cut


def _read(sent: tuple[Any, ...]) -> Cut:
    kind, *rest = sent
    if rest and kind in _READ:
        return (kind, _READ[kind](rest[0]), rest[1])
    return tuple(sent)
