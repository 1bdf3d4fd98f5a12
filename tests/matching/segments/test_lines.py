"""Where values lie: as dictionaries and as columns, of every type that columns may have."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tamis
from support.strategies import DAYS, NUMBERS, POOLS, TIMES
from tamis.language import Expression, compare
from tamis.matching.segments.draft import draft_of
from tamis.matching.segments.segment import Segment, build
from tamis.matching.segments.values import Values

INTEGERS = {
    **{f"int{bits}": (pa.int8(), pa.int16(), pa.int32(), pa.int64())[at] for at, bits in enumerate((8, 16, 32, 64))},
    **{
        f"uint{bits}": (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())[at]
        for at, bits in enumerate((8, 16, 32, 64))
    },
}
TEXTS = ["", "a", "ab", "a\0", "é", "😀", "\uffff", None, "zz", "%", "b"]
MOMENTS = [dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC), dt.datetime(1960, 1, 1, tzinfo=dt.UTC), None, *TIMES]


def _integers(kind: pa.DataType) -> list[int | None]:
    limits = np.iinfo(kind.to_pandas_dtype())
    some = [int(limits.min), int(limits.min) + 1, 0, 1, 2, 5, int(limits.max) - 1, int(limits.max), None]
    some += [
        value for value in (2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, -1) if limits.min <= value <= limits.max
    ]
    return some


def _columns() -> dict[str, pa.Array]:
    found = {name: pa.array(_integers(kind), kind) for name, kind in INTEGERS.items()}
    doubles = [0.0, -0.0, 0.5, 1.5, math.nan, math.inf, -math.inf, 2.0**53, 2.0**63, -(2.0**63), 1e300, None, 5e-324]
    found["float64"] = pa.array(doubles, pa.float64())
    found["float32"] = pa.array([0.0, 0.5, 1.5, math.nan, math.inf, None, 2.0**53, 3.0], pa.float32())
    found["decimal"] = pa.array(
        [Decimal("0.5"), Decimal("1.50"), None, Decimal("3.00"), Decimal("-0.25")], pa.decimal128(9, 2)
    )
    found["wide decimal"] = pa.array([Decimal("9007199254740993"), Decimal(1), None], pa.decimal256(60, 0))
    found["string"] = pa.array(TEXTS, pa.string())
    found["large_string"] = pa.array(TEXTS, pa.large_string())
    found["view"] = pa.array(TEXTS, pa.string_view())
    found["dictionary"] = pa.array(TEXTS, pa.string()).dictionary_encode()
    found["numbers in a dictionary"] = pa.array([1, 5, None, 2**53 + 1, 1], pa.int64()).dictionary_encode()
    found["bool"] = pa.array([True, False, None, True], pa.bool_())
    for unit in ("s", "ms", "us"):
        found[f"timestamp {unit}"] = pa.array(
            [each and each.replace(microsecond=0) for each in MOMENTS], pa.timestamp(unit, "UTC")
        )
    found["timestamp us exact"] = pa.array(MOMENTS, pa.timestamp("us", "UTC"))
    found["timestamp ns"] = pa.array(MOMENTS, pa.timestamp("ns", "UTC"))
    found["date32"] = pa.array([*DAYS, None, dt.date(2030, 1, 1)], pa.date32())
    found["date64"] = pa.array([*DAYS, None, dt.date(2030, 1, 1)], pa.date64())
    found["list"] = pa.array([["a"], [], None, ["a", None, "ab"]], pa.list_(pa.string()))
    found["large list"] = pa.array([[1], [], None, [2, 3]], pa.large_list(pa.int64()))
    found["struct"] = pa.array([{"x": 1}, {"x": None}, None, {"x": 2**53 + 1}, {"x": -(2**63)}])
    found["null"] = pa.nulls(3)
    return found


def _conditions() -> list[Expression]:
    """Conditions whose constants are all over the lines of `a` and `a.x`, and filters."""
    found: list[Expression] = [
        compare(name, operator, value)
        for name in ("a", "a.x")
        for pool in POOLS.values()
        for value in pool
        for operator in ("<=", "=")
    ]
    found += [
        compare("a", operator, value)
        for value in (2**63 - 1, 5e-324, 1.7976931348623157e308)
        for operator in ("<", "<=")
    ]
    texts = ("a is null", "a is not null", "a like '%a%'", "a not like '%b'", "array_contains(a, 'a')", "a < 'a\0'")
    return found + [tamis.parse(text) for text in (*texts, "not array_contains(a, 2)", "a.x is null")]


@pytest.fixture(scope="module")
def conditions() -> list[Expression]:
    return _conditions()


@pytest.fixture(scope="module")
def segment(conditions: list[Expression]) -> Segment:
    return build(draft_of(conditions))[0]


def leaves_by_row(segment: Segment, batch: pa.RecordBatch) -> list[list[int]]:
    offsets, leaves = segment.lines.leaves_of_rows(batch)
    return [sorted(leaves[offsets[row] : offsets[row + 1]].tolist()) for row in range(batch.num_rows)]


@pytest.mark.parametrize("name", _columns())
def test_columns_lie_where_dictionaries_do(segment: Segment, conditions: list[Expression], name: str) -> None:
    column = _columns()[name]
    batch = pa.record_batch({"a": column, "other": pa.array(range(len(column)))})
    events: list[dict[str, Any]] = batch.to_pylist()
    expected = [sorted(segment.lines.leaves_of(event)) for event in events]
    assert leaves_by_row(segment, batch) == expected
    # The same from any row on, and behind other rows.
    for first in range(len(column)):
        assert leaves_by_row(segment, batch.slice(first)) == expected[first:]
        assert leaves_by_row(segment, batch.slice(first, 1)) == expected[first : first + 1]
    twice = pa.concat_arrays([column, column])
    assert leaves_by_row(segment, pa.record_batch({"a": twice}).slice(1)) == (expected + expected)[1:]
    # And where they lie is right.
    order = build(draft_of(conditions))[1]
    for event in events:
        found = sorted(order[segment.match(Values(event))].tolist())
        assert found == [number for number, each in enumerate(conditions) if each.matches(event)]


@pytest.mark.parametrize("kind", INTEGERS.values(), ids=str)
@pytest.mark.parametrize(
    "constants",
    [(1, 5), (-3, 2), (2**63 - 1,), (-(2**63),), (-(2**63), -(2**63) + 9), (0, 2**40), (2**63 - 9, 2**63 - 1), (0.5,)],
)
def test_integers_on_short_and_long_lines(kind: pa.DataType, constants: tuple[float, ...]) -> None:
    """Short lines are tables; their ends stand for all integers beyond."""
    some = [compare("a", operator, value) for value in constants for operator in ("<", "<=", "=", ">", ">=")]
    segment, order = build(draft_of(some))
    column = pa.array(_integers(kind), kind)
    ends, numbers = segment.match_batch(pa.record_batch({"a": column}))
    for row, value in enumerate(column.to_pylist()):
        found = sorted(order[numbers[ends[row] : ends[row + 1]]].tolist())
        assert found == [number for number, each in enumerate(some) if each.matches({"a": value})], value


def test_numbers_as_people_have_them(segment: Segment) -> None:
    for value in NUMBERS:
        leaves = segment.lines.leaves_of({"a": value})
        assert segment.lines.leaves_of({"a": value}) == leaves, "what is remembered is what was found"
        if isinstance(value, int) and -(2**63) <= value < 2**63:
            assert segment.lines.leaves_of({"a": np.int64(value)}) == leaves
    assert segment.lines.leaves_of({"a": True}) != segment.lines.leaves_of({"a": 1})
    assert segment.lines.leaves_of({"a": -0.0}) == segment.lines.leaves_of({"a": 0})
    assert segment.lines.leaves_of({"a": math.nan}) == segment.lines.leaves_of({"a": None}) == []
    assert segment.lines.leaves_of({}) == segment.lines.leaves_of({"b": 1}) == []


def test_a_name_that_two_columns_have_is_no_attribute() -> None:
    segment, _ = build(draft_of([tamis.parse("a = 1"), tamis.parse("a = 2"), tamis.parse("a is null")]))
    batch = pa.RecordBatch.from_arrays([pa.array([1] * 20), pa.array([2] * 20)], names=["a", "a"])
    assert np.diff(segment.match_batch(batch).offsets).tolist() == [1] * 20
