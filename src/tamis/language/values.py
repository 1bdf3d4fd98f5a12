"""The values of events and conditions: their kinds, how they are read and how they are written.

A value has one kind, and values of different kinds never compare (no implicit casts). Integers and doubles
are one kind, `NUMBER`, and compare exactly, as Python does: 2**53 + 1 is not 2.0**53.
"""

import datetime as dt
import enum
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

from tamis.language.limits import MAX_INTEGER, MIN_INTEGER
from tamis.language.names import parts_of


class Kind(enum.IntEnum):
    """What a value is. Literals are of the kinds `NUMBER` to `DATE`."""

    NULL = 0
    NUMBER = 1
    STRING = 2
    BOOLEAN = 3
    TIMESTAMP = 4
    DATE = 5
    #: Arrays, nested objects and everything else that is there but does not compare.
    OTHER = 6


Literal: TypeAlias = int | float | str | bool | dt.datetime | dt.date

#: The kinds whose values have an order, and of which literals exist.
ORDERED_KINDS: Final = (Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.TIMESTAMP, Kind.DATE)

_NULL: Final = (Kind.NULL, None)
_SIMPLE: Final[dict[type, Kind]] = {
    int: Kind.NUMBER,
    str: Kind.STRING,
    bool: Kind.BOOLEAN,
    list: Kind.OTHER,
    tuple: Kind.OTHER,
    dict: Kind.OTHER,
}


def typed(value: Any) -> tuple[Kind, Any]:
    """Return the kind of an event's value and the value as Tamis reads it.

    NaN is read as null. `Decimal` is read as a double. A timestamp without a zone is in UTC; digits
    below the microsecond are cut off.
    """
    kind = _SIMPLE.get(type(value))
    if kind is not None:
        return kind, value
    if value is None:
        return _NULL
    if isinstance(value, float | Decimal):
        value = float(value)
        return _NULL if math.isnan(value) else (Kind.NUMBER, value)
    if isinstance(value, dt.datetime):
        return Kind.TIMESTAMP, _instant(value)
    if isinstance(value, dt.date):
        return Kind.DATE, dt.date(value.year, value.month, value.day)
    if isinstance(value, str):
        return Kind.STRING, str.__str__(value)
    if isinstance(value, int):
        return Kind.NUMBER, int(value)
    if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:
        item = value.item()
        return (Kind.OTHER, value) if hasattr(item, "dtype") else typed(item)
    return Kind.OTHER, value


def _instant(value: dt.datetime) -> dt.datetime:
    if type(value) is not dt.datetime:
        value = dt.datetime(
            value.year,
            value.month,
            value.day,
            value.hour,
            value.minute,
            value.second,
            value.microsecond,
            value.tzinfo,
            fold=value.fold,
        )
    if value.tzinfo is None:
        return value.replace(tzinfo=dt.UTC)
    if value.tzinfo is dt.UTC:
        return value
    try:
        # Python says that a time in the hour that a zone skips equals no instant of another zone.
        return value.astimezone(dt.UTC)
    except OverflowError:
        return value


def read(event: Mapping[str, Any], attribute: str) -> tuple[Kind, Any]:
    """Return the kind and value of an attribute; a missing one is null."""
    if "." not in attribute and "`" not in attribute:
        return typed(event.get(attribute))
    value: Any = event
    for part in parts_of(attribute):
        if not isinstance(value, Mapping):
            return _NULL
        value = value.get(part)
    return typed(value)


def literal_kind(value: object) -> Kind:
    """Return the kind of a literal, or raise `TypeError` if it cannot stand in a condition."""
    kind, read_value = typed(value)
    if kind not in ORDERED_KINDS or read_value != value:
        raise TypeError(f"{value!r} cannot be a literal in a condition")
    return kind


def literal_text(value: Literal) -> str:
    """Return a literal as it is written in a condition."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        whole = isinstance(value, float) and value.is_integer() and MIN_INTEGER <= value <= MAX_INTEGER
        return repr(int(value) if whole else value)
    if isinstance(value, dt.datetime):
        return f"timestamp '{value.astimezone(dt.UTC).replace(tzinfo=None).isoformat(sep=' ')}'"
    return f"date '{value.isoformat()}'"
