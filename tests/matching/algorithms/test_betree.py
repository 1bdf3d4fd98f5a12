from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import conjunctions, events
from tamis.lab.workloads import Ads, generate
from tamis.language import Expression
from tamis.matching.algorithms.betree import LEAF_CAPACITY, BETree
from tamis.matching.engine import make_engine


def engine_with(*texts: str, capacity: int = 1) -> BETree:
    engine = BETree(capacity)
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return engine


def candidates(engine: BETree, event: dict[str, Any]) -> int:
    before = engine.stats()["candidates"]
    engine.match(event)
    return int(engine.stats()["candidates"] - before)


@given(st.integers(1, 3), st.lists(st.tuples(st.integers(0, 8), conjunctions(), events()), max_size=20))
def test_matches_are_those_of_the_language(
    capacity: int, history: list[tuple[int, Expression, dict[str, Any]]]
) -> None:
    engine = BETree(capacity)
    stored: dict[int, Expression] = {}
    for position, expression, event in history:
        if position in stored:
            engine.remove(position)
            del stored[position]
        else:
            engine.add(position, expression)
            stored[position] = expression
        assert sorted(engine.match(event)) == sorted(each for each in stored if stored[each].matches(event))
        engine.check_invariants()


@given(st.integers(1, 3), st.lists(conjunctions(), max_size=30), st.sets(st.integers(0, 29)), events())
def test_many_come_and_go(
    capacity: int, expressions: list[Expression], removed: set[int], event: dict[str, Any]
) -> None:
    engine = BETree(capacity)
    engine.add_many(range(len(expressions)), expressions)
    engine.check_invariants()
    stored = set(range(len(expressions)))
    for position in removed & stored:
        engine.remove(position)
    engine.check_invariants()
    assert sorted(engine.match(event)) == sorted(each for each in stored - removed if expressions[each].matches(event))


@pytest.mark.parametrize("capacity", [1, LEAF_CAPACITY])
def test_a_workload(capacity: int) -> None:
    workload = generate(Ads(subscriptions=400, events=30))
    expressions = [tamis.parse(text) for text in workload.conditions.texts().to_pylist()]
    engine = BETree(capacity)
    engine.add_many(range(len(expressions)), expressions)
    engine.check_invariants()
    found = 0
    for event in workload.events.rows():
        expected = [position for position, each in enumerate(expressions) if each.matches(event)]
        assert sorted(engine.match(event)) == expected
        found += len(expected)
    assert found > 0
    for position in range(len(expressions)):
        engine.remove(position)
    engine.check_invariants()
    assert engine.stats()["predicates"] == 0


def test_only_attributes_of_the_event_lead_on() -> None:
    engine = engine_with(*(f"{name} = {value}" for name in "abc" for value in range(4)))
    assert candidates(engine, {"d": 1}) == 0
    assert candidates(engine, {"a": 1}) == 1
    assert candidates(engine, {"a": 1, "b": 2, "c": 9}) <= 3


def test_only_the_half_with_the_value_is_searched() -> None:
    engine = engine_with(*(f"a between {10 * number} and {10 * number + 5}" for number in range(64)))
    for number in range(64):
        assert engine.match({"a": 10 * number + 3}) == [number]
    assert candidates(engine, {"a": 333}) == 1


def test_what_does_not_fit_in_a_half_is_found_on_both_sides() -> None:
    engine = engine_with("a >= 0", *(f"a = {number}" for number in range(20)))
    assert all(sorted(engine.match({"a": number})) == [0, number + 1] for number in range(20))


def test_a_cluster_with_many_doors() -> None:
    engine = engine_with(*(f"a{number} = 1" for number in range(200)))
    assert sorted(engine.match({"a7": 1, "a150": 1, "a151": 2})) == [7, 150]
    assert candidates(engine, {"a7": 1, "b": 1}) <= 2


def test_a_predicate_that_takes_null_is_no_door() -> None:
    engine = engine_with("a is null and b = 1", "a is null and b = 2", "a is null and c = 2", "a = 1")
    assert engine.match({"b": 1}) == [0]
    assert engine.match({"b": 1, "a": 2}) == []
    assert sorted(engine.match({"b": 2, "c": 2})) == [1, 2]


def test_the_capacity() -> None:
    engine = make_engine("betree")
    assert isinstance(engine, BETree)
    assert engine.clusters.capacity == LEAF_CAPACITY
    with pytest.raises(ValueError, match="at least one subscription, not 0"):
        BETree(0)
