"""The language on columns against the reference on rows."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.strategies import DAYS, STRINGS, expressions
from tamis.language import Expression
from tamis.language.columns import Columns
from tamis.language.normal import form

_INTEGERS = st.sampled_from([0, 1, 2, 3, -1, 5, 2**53, 2**53 + 1, -(2**63), 2**63 - 1, None])
_DOUBLES = st.sampled_from([0.0, -0.0, 0.5, 1.5, 2.0**53, 2.0**60, 1e300, float("inf"), float("nan"), None])
_TEXTS = st.sampled_from([*STRINGS, None])
_INSTANTS = st.sampled_from([dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC), None])
_COLUMNS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), _INTEGERS),
    (pa.int8(), st.sampled_from([-128, -1, 0, 1, 2, 127, None])),
    (pa.uint64(), st.sampled_from([0, 1, 5, 2**53 + 1, 2**64 - 1, None])),
    (pa.float64(), _DOUBLES),
    (pa.float32(), st.sampled_from([0.5, 1.5, float("nan"), None])),
    (pa.decimal128(10, 2), st.sampled_from([Decimal("0.50"), Decimal("1.50"), Decimal("2"), None])),
    (pa.bool_(), st.sampled_from([True, False, None])),
    (pa.string(), _TEXTS),
    (pa.large_string(), _TEXTS),
    (pa.string_view(), _TEXTS),
    (pa.dictionary(pa.int8(), pa.string()), _TEXTS),
    (pa.timestamp("us", "UTC"), _INSTANTS),
    (pa.timestamp("s"), st.sampled_from([dt.datetime(2026, 1, 1, 12), None])),  # noqa: DTZ001
    (pa.timestamp("ms", "Europe/Berlin"), _INSTANTS),
    (pa.date32(), st.sampled_from([*DAYS, None])),
    (pa.date64(), st.sampled_from([*DAYS, None])),
    (pa.binary(), st.sampled_from([b"a", None])),
    (pa.null(), st.none()),
    (pa.list_(pa.string()), st.none() | st.lists(_TEXTS, max_size=3)),
    (pa.large_list(pa.int64()), st.none() | st.lists(_INTEGERS, max_size=3)),
    (pa.list_(pa.float64(), 2), st.none() | st.lists(_DOUBLES, min_size=2, max_size=2)),
    (pa.list_view(pa.bool_()), st.none() | st.lists(st.booleans(), max_size=2)),
]


@st.composite
def columns(draw: st.DrawFn, rows: int) -> pa.Array:
    kind, values = draw(st.sampled_from(_COLUMNS))
    # A slice of a longer array: offsets that are not zero are a classic mistake.
    padding = draw(st.integers(0, 2))
    return pa.array([draw(values) for _ in range(rows + padding)], kind)[padding:]


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    rows = draw(st.integers(0, 5))
    named = {name: draw(columns(rows)) for name in ("a", "b", "odd name")}
    parts = [draw(columns(rows)), draw(columns(rows))]
    missing = pa.array([draw(st.booleans()) for _ in range(rows)], pa.bool_())
    named["n"] = pa.StructArray.from_arrays(parts, ["x", "y"], mask=missing)
    return pa.RecordBatch.from_pydict(named)


@given(expressions(), batches())
@settings(max_examples=1_000)
def test_columns_agree_with_the_reference(expression: Expression, batch: pa.RecordBatch) -> None:
    mask = Columns(batch).mask(form(expression))
    assert mask.tolist() == [expression.matches(row) for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("text", "values", "kind", "matched"),
    [
        ("x = 9007199254740993", [2**53, 2**53 + 1], pa.int64(), [1]),
        ("x = 9007199254740993", [2.0**53, 2.0**53 + 2], pa.float64(), []),
        ("x > 9007199254740993", [2.0**53, 2.0**53 + 2], pa.float64(), [1]),
        ("x <= 9007199254740993", [2.0**53, 2.0**53 + 2], pa.float64(), [0]),
        ("x > 1.7976931348623157e308", [1e308, float("inf")], pa.float64(), [1]),
        ("x < 0.5", [0, 1], pa.int64(), [0]),
        ("x >= -300", [-128, 127], pa.int8(), [0, 1]),
        ("x >= 300", [-128, 127], pa.int8(), []),
        ("x in (1, 3, 5, 300)", [1, 2, 3, 5], pa.int8(), [0, 2, 3]),
        ("x not in (1, 3, 5)", [1, 2, None, 5], pa.int8(), [1]),
        ("x = 0.1", [Decimal("0.1"), Decimal("0.2")], pa.decimal128(4, 1), [0]),
        ("x > timestamp '2026-01-01'", [1767225600000000001, 1767225600000001000], pa.timestamp("ns"), [1]),
        ("s not in ('a', 'b', 'c')", ["a", "d", None], pa.string(), [1]),
        ("s like '%a_c%'", ["xabcx", "abc", "ac", "a\nc"], pa.string(), [0, 1, 3]),
        ("s like '(%'", ["(x", "x"], pa.string(), [0]),
        ("s like '%.*[x]'", ["a.*[x]", "axx"], pa.string(), [0]),
    ],
)
def test_exact_edges(text: str, values: list[Any], kind: pa.DataType, matched: list[int]) -> None:
    name = text.split(" ", 1)[0]
    batch = pa.RecordBatch.from_pydict({name: pa.array(values, kind)})
    assert np.flatnonzero(Columns(batch).mask(form(tamis.parse(text)))).tolist() == matched


def test_missing_and_nested_columns() -> None:
    batch = pa.RecordBatch.from_pylist([{"a": {"b": 1}}, {"a": None}, {"a": {"b": 2}}])
    for text, rows in (("a.b = 1", [0]), ("a.b is null", [1]), ("a.c is null", [0, 1, 2]), ("z.y.x > 1", [])):
        assert np.flatnonzero(Columns(batch).mask(form(tamis.parse(text)))).tolist() == rows


def test_a_list_behind_a_null_struct_is_not_looked_at() -> None:
    lists = pa.array([None, [0], [0]], pa.large_list(pa.int64()))
    nested = pa.StructArray.from_arrays([lists], ["x"], mask=pa.array([False, False, True]))
    batch = pa.RecordBatch.from_pydict({"n": nested})
    for text in ("array_contains(n.x, 0)", "not array_contains(n.x, 1)"):
        assert Columns(batch).mask(form(tamis.parse(text))).tolist() == [False, True, False]
