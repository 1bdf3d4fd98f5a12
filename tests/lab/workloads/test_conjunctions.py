from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tamis.lab.workloads.conjunctions import Operator, Predicates, conjunctions, numbered, ranges
from tamis.lab.workloads.events import sparse_events
from tamis.lab.workloads.predicates import operators, true_of
from tamis.language import parse


def every_operator(rng: np.random.Generator, each: int = 20) -> Predicates:
    chosen = np.tile(np.array(list(Operator), dtype=np.int8), each)
    return true_of(rng, chosen, rng.integers(12, size=len(chosen)), 12)


def by_columns(row: dict[str, Any], value: int) -> bool:
    """Evaluate one row of columns() as it is documented."""
    if row["values"] is not None:
        return bool((value in row["values"]) is (row["operator"] == "in"))
    inside = (row["low"] is None or row["low"] <= value) and (row["high"] is None or value <= row["high"])
    return inside is not (row["operator"] == "<>")


def test_texts_columns_and_arrays_mean_the_same_for_every_operator() -> None:
    predicates = every_operator(np.random.default_rng(1))
    count = len(predicates)
    asked = conjunctions(("x",), np.ones(count, dtype=np.int64), np.zeros(count, dtype=np.int64), predicates)
    texts, rows = asked.texts().to_pylist(), asked.columns().to_pylist()
    places = np.arange(count)
    for value in range(-1, 13):
        accepted = predicates.accept(places, np.full(count, value)).tolist()
        assert [parse(text).matches({"x": value}) for text in texts] == accepted
        assert [by_columns(row, value) for row in rows] == accepted


def test_columns_tell_whose_predicate_it_is() -> None:
    predicates = ranges(np.array([1, 2, 3]), np.array([1, 5, 4]))
    table = conjunctions(("x", "y"), np.array([1, 2]), np.array([1, 0, 1]), predicates).columns()
    assert table["subscription"].to_pylist() == [0, 1, 1]
    assert table["attribute"].to_pylist() == ["y", "x", "y"]
    assert table["operator"].to_pylist() == ["=", "between", "between"]
    assert table["low"].to_pylist() == [1, 2, 3]
    assert table["high"].to_pylist() == [1, 5, 4]
    assert pa.types.is_dictionary(table["attribute"].type)
    assert table["low"].type == pa.int64()


def test_words_are_the_values_of_texts_and_columns() -> None:
    asked = conjunctions(
        ("x", "in"),
        np.array([2]),
        np.array([0, 1]),
        ranges(np.array([1, 0]), np.array([1, 0])),
        pa.array(["o'k", "no"]),
    )
    assert asked.texts().to_pylist() == ["x = 'no' and `in` = 'o''k'"]
    assert parse(asked.texts()[0].as_py()).matches({"x": "no", "in": "o'k"})
    assert asked.columns()["low"].to_pylist() == ["no", "o'k"]


def test_doubles_are_written_exactly() -> None:
    low, high = np.array([1 / 3]), np.array([2 / 3])
    text = conjunctions(("x",), np.array([1]), np.array([0]), ranges(low, high)).texts()[0].as_py()
    assert parse(text).matches({"x": 1 / 3})
    assert parse(text).matches({"x": 2 / 3})
    assert not parse(text).matches({"x": np.nextafter(2 / 3, 1).item()})


def test_conjunctions_hold_where_their_texts_match() -> None:
    rng = np.random.default_rng(1)
    sizes = np.array([1, 2, 3] * 20)
    codes = np.concatenate([rng.permutation(4)[:size] for size in sizes])
    chosen = operators(rng, np.zeros(len(codes), dtype=np.bool_))
    asked = conjunctions(numbered(4), sizes, codes, true_of(rng, chosen, rng.integers(5, size=len(codes)), 5))
    told = sparse_events(
        numbered(4),
        np.full(50, 3),
        np.concatenate([rng.permutation(4)[:3] for _ in range(50)]),
        rng.integers(5, size=150),
    )
    subscriptions, rows = np.divmod(np.arange(len(asked) * len(told)), len(told))
    expressions = [parse(text) for text in asked.texts().to_pylist()]
    events = list(told.rows())
    expected = [expressions[number].matches(events[row]) for number, row in zip(subscriptions, rows, strict=True)]
    assert asked.holds(told, subscriptions, rows).tolist() == expected
    assert 0 < sum(expected) < len(expected)


@pytest.mark.parametrize(("start", "end"), [(0, 5), (7, 90), (170, 180)])
def test_a_part_is_what_lies_between(start: int, end: int) -> None:
    predicates = every_operator(np.random.default_rng(1))
    names = pa.array(["x"] * len(predicates))
    part = predicates.part(start, end)
    assert part.texts(names[start:end]) == predicates.texts(names)[start:end]
