"""Indexes of `array_contains` filters against the filters one by one."""

import datetime as dt
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import DAYS, POOLS, STRINGS, TIMES, kinds, values
from tamis.language.columns import Column
from tamis.language.tree import ArrayContains
from tamis.language.values import Kind
from tamis.matching.segments.members import Members

EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "500"))

_NUMBERS = st.sampled_from([0, 1, 2, 3, -1, 2**53, 2**53 + 1, -(2**63), 2**63 - 1, None])
_DOUBLES = st.sampled_from([0.0, -0.0, 0.5, 1.5, 2.0**53, 2.0**60, 1e300, float("nan"), float("inf"), None])
_TEXTS = st.sampled_from([*STRINGS, "ac", None])
_ELEMENTS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), _NUMBERS),
    (pa.uint8(), st.sampled_from([0, 1, 2, 255, None])),
    (pa.float64(), _DOUBLES),
    (pa.string(), _TEXTS),
    (pa.large_string(), _TEXTS),
    (pa.string_view(), _TEXTS),
    (pa.dictionary(pa.int8(), pa.string()), _TEXTS),
    (pa.bool_(), st.sampled_from([True, False, None])),
    (pa.timestamp("us", "UTC"), st.sampled_from([*TIMES, None])),
    (pa.date32(), st.sampled_from([*DAYS, None])),
    (pa.null(), st.none()),
    (pa.list_(pa.string()), st.none() | st.just(["a"])),
]


@st.composite
def members(draw: st.DrawFn) -> ArrayContains:
    kind = draw(kinds)
    return ArrayContains("x", draw(st.sampled_from(POOLS[kind])), kind, draw(st.booleans()))


@st.composite
def arrays(draw: st.DrawFn) -> pa.Array:
    kind, elements = draw(st.sampled_from(_ELEMENTS))
    lists = st.none() | st.lists(elements, max_size=4)
    made = draw(st.sampled_from([pa.list_(kind), pa.large_list(kind), pa.list_(kind, 2)]))
    if pa.types.is_fixed_size_list(made):
        lists = st.none() | st.lists(elements, min_size=2, max_size=2)
    rows = draw(st.lists(lists, max_size=6))
    low = draw(st.integers(0, len(rows)))
    return pa.array(rows, made)[low : draw(st.integers(low, len(rows)))]


def expected(filters: Sequence[ArrayContains], value: Any) -> list[int]:
    return [number for number, each in enumerate(filters) if each.matches({"x": value})]


def pairs(found: tuple[npt.NDArray[Any], npt.NDArray[Any]]) -> list[tuple[int, int]]:
    rows, numbers = found
    assert rows.dtype == np.int64
    assert numbers.dtype == np.int32
    assert (np.diff(rows) >= 0).all()
    return sorted(zip(rows.tolist(), numbers.tolist(), strict=True))


@given(st.lists(members(), max_size=12), values() | st.lists(values(), max_size=4))
@settings(max_examples=EXAMPLES)
def test_they_find_what_each_filter_says(filters: list[ArrayContains], value: Any) -> None:
    assert sorted(Members(filters).find(value)) == expected(filters, value)


@given(st.lists(members(), max_size=12), arrays())
@settings(max_examples=EXAMPLES)
def test_rows_are_found_as_columns_say(filters: list[ArrayContains], array: pa.Array) -> None:
    found = pairs(Members(filters).find_rows(array))
    assert found == [(row, number) for row, each in enumerate(array.to_pylist()) for number in expected(filters, each)]
    if array.type.value_type != pa.string_view():  # which `Column` cannot read where lists are null
        passing = [np.flatnonzero(Column(array).passes(each)).tolist() for each in filters]
        assert found == sorted((row, number) for number, rows in enumerate(passing) for row in rows)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (["x", "y"], [0, 3]),
        (["y"], [1, 3]),
        ([], [1, 5]),
        (["x", None], [0]),
        (["y", None], [3]),
        (["y", 1], [3, 4]),
        ([1.0], [4]),
        ([2], [5]),
        ([True], []),
        ((), [1, 5]),
        (np.array(["x"]), [0]),
        (np.array("x"), []),
        ("x", []),
        (None, []),
        ({"x": 1}, []),
    ],
)
def test_vectors(value: Any, found: list[int]) -> None:
    filters = [
        ArrayContains("x", "x", Kind.STRING),
        ArrayContains("x", "x", Kind.STRING, True),
        ArrayContains("x", "", Kind.STRING),
        ArrayContains("x", "y", Kind.STRING),
        ArrayContains("x", 1, Kind.NUMBER),
        ArrayContains("x", 1, Kind.NUMBER, True),
    ]
    assert sorted(Members(filters).find(value)) == sorted(found)
    assert expected(filters, value) == sorted(found)


def test_rows_of_ten_thousand_members() -> None:
    filters = [ArrayContains("x", f"tag{number}", Kind.STRING) for number in range(10_000)]
    filters.append(ArrayContains("x", "tag5", Kind.STRING, True))
    index = Members(filters)
    array = pa.array([["tag17", "tag9999", "tag17"], None, [], ["tag5", "tag10000"], [None], ["", "tag", "tag55555"]])
    assert pairs(index.find_rows(array)) == [(0, 17), (0, 9999), (0, 10_000), (2, 10_000), (3, 5), (5, 10_000)]
    assert index.bytes < 8_000_000


def test_times_and_days_are_found_in_rows() -> None:
    time, day = TIMES[1], DAYS[2]
    filters = [ArrayContains("x", time, Kind.TIMESTAMP), ArrayContains("x", day, Kind.DATE)]
    index = Members(filters)
    late = dt.timedelta(microseconds=1)
    assert pairs(index.find_rows(pa.array([[time], [time + late, time], [time - late]]))) == [(0, 0), (1, 0)]
    assert pairs(index.find_rows(pa.array([[day], [DAYS[0]]]))) == [(0, 1)]


def test_what_cannot_be_indexed_is_refused() -> None:
    with pytest.raises(ValueError, match="one attribute, not for a, b"):
        Members([ArrayContains("a", 1, Kind.NUMBER), ArrayContains("b", 1, Kind.NUMBER)])
    with pytest.raises(TypeError, match="not string"):
        Members([ArrayContains("a", 1, Kind.NUMBER)]).find_rows(pa.array(["a"]))
