"""Records that fit become rows, the others are told with their reason; none is lost and none is changed."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.pipeline.connectors.shape import Shape

SCHEMA = pa.schema(
    {
        "a b": pa.float64(),
        "small": pa.int32(),
        "at": pa.timestamp("us", "UTC"),
        "deep": pa.struct([("x", pa.int64()), ("tags", pa.list_(pa.string()))]),
        "sum": pa.decimal128(5, 2),
        "day": pa.date32(),
        "on": pa.bool_(),
        "text": pa.string(),
    }
)
SHAPE = Shape(SCHEMA)
UTC = dt.UTC


def test_what_fits_becomes_a_row() -> None:
    full = {
        "a b": 1,
        "small": -3,
        "at": "2026-01-01T02:00:00+02:00",
        "deep": {"x": 1, "tags": ["q", None], "more": 5},
        "sum": "1.25",
        "day": "2026-01-01",
        "on": True,
        "text": "é",
        "unknown": [1],
    }
    found = SHAPE.of_json([json.dumps(full).encode(), b"{}"])
    assert (found.numbers, found.bad) == ([0, 1], [])
    expected = full | {"at": dt.datetime(2026, 1, 1, tzinfo=UTC), "day": dt.date(2026, 1, 1), "sum": Decimal("1.25")}
    del expected["unknown"]
    assert found.rows.to_pylist() == [
        expected | {"deep": {"x": 1, "tags": ["q", None]}},
        dict.fromkeys(SCHEMA.names),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"null", "Expected `object`, got `null`"),
        (b"[{}]", "Expected `object`, got `array`"),
        (b"", "truncated"),
        (None, "there is no value"),
        (b"{} {}", "trailing characters"),
        (b'{"small": 2147483648}', "<= 2147483647"),
        (b'{"small": 1.5}', "$.small"),
        (b'{"a b": "1"}', "$.a b"),
        (b'{"a b": NaN}', "malformed"),
        (b'{"sum": 123456.5}', "precision"),
        (b'{"text": "\xff"}', "utf-8"),
        (b'{"at": 5}', "$.at"),
        (b'{"unknown": ' + b"[" * 100_000, "recursion"),
    ],
)
def test_what_does_not_fit_is_told_and_the_others_are_rows(text: bytes | None, reason: str) -> None:
    found = SHAPE.of_json([b'{"small": 1}', text, b'{"small": 2}'])
    assert found.numbers == [0, 2]
    assert found.rows.column("small").to_pylist() == [1, 2]
    assert [bad.number for bad in found.bad] == [1]
    assert reason in found.bad[0].reason


def test_a_type_that_no_event_has_is_refused() -> None:
    with pytest.raises(ValueError, match="column 'm' is map"):
        Shape(pa.schema({"m": pa.map_(pa.string(), pa.int64())}))


VALUES: Any = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=3)


def is_fit(event: dict[str, Any]) -> bool:
    """Say by other means whether an event has the types that are declared."""

    def fits(name: str, kind: Any) -> bool:
        value = event.get(name)
        return value is None or (isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool))

    whole = event.get("n")
    number = event.get("x")
    in_range = not isinstance(whole, int) or -(2**63) <= whole < 2**63
    finite = not isinstance(number, float) or (number == number and abs(number) != float("inf"))
    return fits("n", int) and fits("x", int | float) and fits("s", str) and fits("b", bool) and in_range and finite


@given(st.lists(st.dictionaries(st.sampled_from(["n", "x", "s", "b", "other"]), VALUES, max_size=4), max_size=6))
def test_every_record_is_a_row_or_bad_as_its_types_say(events: list[dict[str, Any]]) -> None:
    shape = Shape(pa.schema({"n": pa.int64(), "x": pa.float64(), "s": pa.string(), "b": pa.bool_()}))
    # Other than declared, a record may have everything that is JSON.
    events = [{k: v for k, v in each.items() if k != "other" or not isinstance(v, float)} for each in events]
    found = shape.of_json([json.dumps(each).encode() for each in events])
    assert found.numbers == [at for at, event in enumerate(events) if is_fit(event)]
    assert sorted([*found.numbers, *(bad.number for bad in found.bad)]) == list(range(len(events)))
    rows = [{name: events[at].get(name) for name in ("n", "x", "s", "b")} for at in found.numbers]
    assert found.rows.to_pylist() == rows


def test_mappings_are_read_alike() -> None:
    found = SHAPE.of_mappings([{"small": 1, "at": dt.datetime(2026, 1, 1, tzinfo=UTC)}, {"small": "x"}])
    assert found.rows.column("at").to_pylist() == [dt.datetime(2026, 1, 1, tzinfo=UTC)]
    assert [bad.number for bad in found.bad] == [1]
