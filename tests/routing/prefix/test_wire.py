"""Regions over a link."""

import datetime as dt

import msgspec
import pytest

from support.prefixes import one_filter
from tamis.routing.prefix.wire import WireRegion, from_wire, to_wire


@pytest.mark.parametrize(
    "text",
    [
        "x > 5",
        "x between -1.5 and 9007199254740993",
        "x in ('a', 'it''s')",
        "x is null or x",
        "x < timestamp '2026-01-01 12:00:00.000001'",
        "x >= date '1969-12-31'",
        "x like '%a!%b%' escape '!' and x not like '_c%d'",
        "array_contains(x, 'a') and not array_contains(x, 2)",
    ],
)
def test_there_and_back(text: str) -> None:
    (region,) = one_filter(text)
    packed = msgspec.msgpack.encode(to_wire(region))
    assert from_wire(msgspec.msgpack.decode(packed, type=WireRegion)) == region


def test_times_keep_their_kind() -> None:
    (region,) = one_filter("x = timestamp '2026-01-01 00:00:00'")
    assert from_wire(to_wire(region)).low == (4, dt.datetime(2026, 1, 1, tzinfo=dt.UTC), 0)
    (region,) = one_filter("x = date '2026-01-01'")
    assert from_wire(to_wire(region)).low == (5, dt.date(2026, 1, 1), 0)


def test_what_is_no_region_is_refused() -> None:
    with pytest.raises(ValueError, match="is no filter"):
        from_wire(WireRegion("x", ((1,), (2,)), ("x > 5",)))
    with pytest.raises(ValueError, match="a low and a high"):
        from_wire(WireRegion("x", ((1,),), ()))
