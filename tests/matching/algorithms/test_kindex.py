from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import conjunctions, events
from tamis.language import Expression
from tamis.matching.algorithms.kindex import KIndex


def filled(texts: list[str]) -> KIndex:
    engine = KIndex()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return engine


_sides = st.integers(0, 12).flatmap(lambda low: st.tuples(st.just(low), st.integers(low, 12)))


@given(st.lists(st.tuples(_sides, _sides), max_size=60), st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12))))
def test_boxes(boxes: list[Any], points: list[tuple[int, int]]) -> None:
    engine = filled([f"a between {a} and {b} and b between {c} and {d}" for (a, b), (c, d) in boxes])
    for x, y in points:
        expected = [at for at, ((a, b), (c, d)) in enumerate(boxes) if a <= x <= b and c <= y <= d]
        assert sorted(engine.match({"a": x, "b": y})) == expected


@given(st.lists(conjunctions(), max_size=12), st.lists(conjunctions(), max_size=6), st.lists(events(), max_size=5))
def test_any_conjunction(first: list[Expression], later: list[Expression], events: list[dict[str, Any]]) -> None:
    engine = KIndex()
    engine.add_many(range(len(first)), first)
    engine.check_invariants()
    for position, expression in enumerate(later, start=len(first)):
        engine.add(position, expression)
    for event in events:
        expected = [position for position, each in enumerate(first + later) if each.matches(event)]
        assert sorted(engine.match(event)) == expected
    engine.check_invariants()


def test_partitions_with_more_predicates_than_the_event_has_attributes_are_left_out() -> None:
    engine = filled(["a > 0", "a > 0 and b > 0", "a > 0 and b > 0 and c > 0"])
    for event, candidates in (({"a": 1}, 1), ({"a": 1, "z": 1}, 1), ({"a": 1, "b": 1}, 2), ({"a": 1, "c": 1}, 2)):
        before = engine.stats()["candidates"]
        engine.match(event)
        assert engine.stats()["candidates"] == before + candidates


def test_predicates_that_take_null_do_not_count_in_the_size() -> None:
    engine = filled(["a = 1 and b is null", "a = 1 and b is not null"])
    assert engine.match({"a": 1}) == [0]
    assert engine.match({"a": 1, "b": 2}) == [1]


def test_additions_after_an_event_are_found() -> None:
    engine = filled(["a < 5"])
    assert engine.match({"a": 3}) == [0]
    engine.add(1, tamis.parse("a > 2 and a < 4"))
    assert sorted(engine.match({"a": 3})) == [0, 1]
    assert engine.match({"a": 1}) == [0]


def test_it_cannot_be_changed() -> None:
    engine = filled(["a < 5"])
    with pytest.raises(TypeError, match="not dynamic"):
        engine.remove(0)
    assert engine.match({"a": 3}) == [0]


def test_counters_of_one_event_do_not_reach_into_the_next() -> None:
    engine = filled(["a = 1 and b = 1", "a = 1 and b = 1 and c = 1"])
    for _ in range(3):
        assert engine.match({"a": 1, "c": 1}) == []
        assert engine.match({"b": 1, "c": 1}) == []
        assert engine.match({"a": 1, "b": 1}) == [0]


def test_damage_is_found() -> None:
    engine = filled(["a < 5", "a > 3"])
    engine._built().postings[0] = 1
    with pytest.raises(AssertionError):
        engine.check_invariants()
