"""Conjunctions as columns: they mean what the same conjunctions mean as text."""

import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.language import And, Constant, Expression, compare
from tamis.matching.segments.columns import OPERATORS

_TOP = 2**63
INTEGERS = (0, 1, 2, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, _TOP - 1, _TOP - 2, -_TOP, -_TOP + 1)
DOUBLES = (0.0, -0.0, 0.5, 1.5, -0.5, 2.0**53, 2.0**63, -(2.0**63), 9223372036854774784.0, 1e300, -1e300)
EDGES = (1.7976931348623157e308, -1.7976931348623157e308, 5e-324, -5e-324)
TEXTS = ("", "a", "a\0", "ab", "é", "😀", "\uffff", "it's", "\0")
NAMES = {"a": "a", "b": "b", "`odd name`": "odd name", "`c`": "c", "c": "c"}
Predicate = tuple[int, str, str, Any]


def table(lines: list[Predicate], number: pa.DataType) -> pa.Table:
    return pa.table(
        {
            "row": pa.array([line[0] for line in lines], pa.int64()),
            "attribute": pa.array([line[1] for line in lines], pa.string()),
            "operator": pa.array([line[2] for line in lines], pa.string()),
            "number": pa.array([None if isinstance(line[3], str) else line[3] for line in lines], number),
            "text": pa.array([line[3] if isinstance(line[3], str) else None for line in lines], pa.string()),
        }
    )


def conjunction(lines: list[Predicate]) -> Expression:
    parts = tuple(compare(name, operator, value) for _, name, operator, value in lines)
    return And(parts) if len(parts) > 1 else parts[0] if parts else Constant(True)


@st.composite
def given_lines(draw: st.DrawFn) -> tuple[int, list[Predicate], pa.DataType]:
    whole = draw(st.booleans())
    numbers = INTEGERS if whole else (*DOUBLES, *EDGES)
    rows = draw(st.integers(1, 6))
    line = st.tuples(
        st.integers(0, rows - 1),
        st.sampled_from(list(NAMES)),
        st.sampled_from(OPERATORS),
        st.sampled_from(numbers) | st.sampled_from(TEXTS),
    )
    return rows, draw(st.lists(line, max_size=14)), pa.int64() if whole else pa.float64()


some_events = st.lists(
    st.dictionaries(
        st.sampled_from(list(NAMES.values())),
        st.sampled_from([*INTEGERS, *DOUBLES, *EDGES, *TEXTS, None, True, 2**70, float("inf"), float("nan")]),
    ),
    min_size=1,
    max_size=8,
)


@given(columns=given_lines(), events=some_events)
@settings(max_examples=200)
def test_columns_mean_what_texts_mean(
    columns: tuple[int, list[Predicate], pa.DataType], events: list[dict[str, Any]]
) -> None:
    rows, lines, number = columns
    by_row = [conjunction([line for line in lines if line[0] == row]) for row in range(rows)]
    index = tamis.Index()
    index.add_columns(range(rows), table(lines, number))
    spelled = [index.condition(row) for row in range(rows)]
    again = tamis.Index()
    again.add_many(range(rows), [str(each) for each in spelled])
    for event in events:
        expected = [row for row in range(rows) if by_row[row].matches(event)]
        assert sorted(index.match(event)) == expected
        assert [row for row in range(rows) if spelled[row].matches(event)] == expected
        assert sorted(again.match(event)) == expected


def test_all_kinds_of_columns_are_taken() -> None:
    lines: list[Predicate] = [
        (1, "a", ">", 3),
        (0, "b", "=", "x"),
        (1, "a", "<", 9),
        (0, "a", "<>", 5),
        (0, "a", "<>", 6),
    ]
    plain = table(lines, pa.int64())
    coded = plain.set_column(1, "attribute", plain.column("attribute").dictionary_encode())
    coded = coded.set_column(2, "operator", coded.column("operator").dictionary_encode())
    coded = coded.set_column(4, "text", coded.column("text").dictionary_encode())
    small = plain.set_column(0, "row", plain.column("row").cast(pa.uint8()))
    small = small.set_column(3, "number", plain.column("number").cast(pa.float32()))
    small = small.set_column(4, "text", plain.column("text").cast(pa.large_string()))
    chunked = pa.concat_tables([coded.slice(0, 2), coded.slice(2)])
    for each in (plain, coded, small, chunked, plain.to_batches()[0], small.cast(small.schema)):
        index = tamis.Index()
        index.add_columns(pa.array(["first", "second", "all"]), each)
        assert sorted(index.match({"a": 4, "b": "x"})) == ["all", "first", "second"]
        assert sorted(index.match({"a": 5, "b": "x"})) == ["all", "second"]
        assert sorted(index.match({})) == ["all"]
        assert index.condition("second") == tamis.parse("a > 3 and a < 9")


def test_a_dictionary_may_hold_more_than_is_used() -> None:
    names = pa.DictionaryArray.from_arrays(pa.array([1, 2, 1]), ["no name!", "a", "a"])
    operators = pa.DictionaryArray.from_arrays(pa.array([1, 1, 1]), ["~", ">"])
    index = tamis.Index()
    index.add_columns(
        [1, 2], pa.table({"row": [0, 0, 1], "attribute": names, "operator": operators, "number": [1, 5, 3]})
    )
    assert [sorted(index.match({"a": value})) for value in (1, 2, 4, 6)] == [[], [], [2], [1, 2]]


def test_columns_and_texts_live_together() -> None:
    index = tamis.Index()
    index.add("text", "a > 1 and s like '%x%'")
    index.add_columns(["column"], table([(0, "a", ">", 3)], pa.int64()))
    index.settle()
    assert sorted(index.match({"a": 5, "s": "x"})) == ["column", "text"]
    assert str(index.condition("column")) == "a > 3"
    assert index.explain("column", {"a": 2}).matched is False
    index.replace("column", "a = 1")
    index.remove("text")
    assert index.match({"a": 1, "s": "x"}) == ["column"]


GOOD = {"row": [0, 0], "attribute": ["a", "b"], "operator": ["=", "<"], "number": [1, 2]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row": None}, "no column 'row', only attribute, operator, number"),
        ({"attribute": None}, "no column 'attribute'"),
        ({"operator": None}, "no column 'operator'"),
        ({"number": None}, "line 0 has neither a number nor a text"),
        ({"row": [0, 2]}, "line 1: there is no row 2 among 2 ids"),
        ({"row": [-1, 0]}, "line 0: there is no row -1 among 2 ids"),
        ({"row": [0, None]}, "column 'row' holds integers, not int64 with 1 nulls"),
        ({"row": ["0", "1"]}, "column 'row' holds integers, not string"),
        ({"attribute": ["a", None]}, "line 1: column 'attribute' is null"),
        ({"attribute": [1, 2]}, "column 'attribute' holds texts, not int64"),
        ({"attribute": ["a", "b c"]}, "line 1: 'b c' is no attribute"),
        ({"attribute": ["", "b"]}, "line 0: '' is no attribute"),
        ({"attribute": ["a is null or b", "b"]}, "line 0: 'a is null or b' is no attribute"),
        ({"attribute": ["not a", "b"]}, "line 0: 'not a' is no attribute"),
        (
            {
                "attribute": pa.DictionaryArray.from_arrays(
                    pa.array([0, 5], pa.int32()), pa.array(["a", "b"]), safe=False
                )
            },
            "line 1: the dictionary of column 'attribute' has no entry 5",
        ),
        ({"operator": ["=", "like"]}, "line 1: there is no operator 'like'; there are = <> < <= > >="),
        ({"operator": ["=", None]}, "line 1: column 'operator' is null"),
        ({"number": [1, None]}, "line 1 has neither a number nor a text"),
        ({"text": [None, "x"]}, "line 1 has both a number and a text"),
        ({"number": [1.0, float("nan")]}, "line 1: nan cannot be compared with"),
        ({"number": [float("inf"), 1.0]}, "line 0: inf cannot be compared with"),
        ({"number": [True, False]}, "column 'number' holds integers or doubles, not bool"),
        ({"number": pa.array([1, 2**63], pa.uint64())}, "line 1: 9223372036854775808 does not fit in 64 bits"),
        ({"number": [None, None], "text": [b"x", b"y"]}, "column 'text' holds texts, not binary"),
    ],
)
def test_what_is_wrong_is_told_and_changes_nothing(change: dict[str, Any], message: str) -> None:
    index = tamis.Index()
    index.add("old", "a = 1")
    columns = {name: values for name, values in {**GOOD, **change}.items() if values is not None}
    with pytest.raises(tamis.SubscriptionError, match=re.escape(message)):
        index.add_columns(["x", "y"], pa.table(columns))
    assert list(index) == ["old"]


def test_ids_are_checked() -> None:
    index = tamis.Index()
    index.add("old", "a = 1")
    columns = pa.table(GOOD)
    with pytest.raises(tamis.SubscriptionError, match="'x' occurs twice"):
        index.add_columns(["x", "x"], columns)
    with pytest.raises(tamis.SubscriptionError, match="no str, like the other ids"):
        index.add_columns([1, 2], columns)
    with pytest.raises(tamis.SubscriptionError, match="row 1: subscription 'old' is there already; use replace"):
        index.add_columns(["x", "old"], columns)
    with pytest.raises(TypeError, match="Table or RecordBatch, not dict"):
        index.add_columns(["x"], GOOD)
    with pytest.raises(tamis.SubscriptionError, match="'scan' takes no columns; use add_many"):
        tamis.Index("scan").add_columns(["x"], columns)
    assert list(index) == ["old"]
    index.add_columns([], columns.slice(0, 0))
    index.settle()
    assert list(index) == ["old"]
