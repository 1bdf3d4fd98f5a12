from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import conjunctions, events
from tamis.language import Expression
from tamis.matching.algorithms.boxtree import LEAST_MEMBERS
from tamis.matching.algorithms.kdtree import KdTree

_sides = st.integers(0, 12).flatmap(lambda low: st.tuples(st.just(low), st.integers(low, 12)))
boxes = st.tuples(_sides, _sides, _sides).map(
    lambda sides: tamis.parse(" and ".join(f"{n} between {x} and {y}" for n, (x, y) in zip("abc", sides, strict=True)))
)
points = st.fixed_dictionaries({name: st.integers(0, 12) for name in "abc"})


def filled(expressions: list[Expression]) -> KdTree:
    engine = KdTree()
    engine.add_many(range(len(expressions)), expressions)
    return engine


def uniform(count: int) -> KdTree:
    """Return squares with a side of 0.2 in the unit square."""
    low = np.random.default_rng(7).uniform(0, 0.8, (count, 2)).tolist()
    return filled([tamis.parse(f"a between {a} and {a + 0.2} and b between {b} and {b + 0.2}") for a, b in low])


def work(engine: KdTree, event: dict[str, Any], limit: int) -> tuple[int, int]:
    """Return how many candidates are looked at, and how many predicates are tested, to find so many."""
    before = engine.stats()
    engine.find(event, limit)
    after = engine.stats()
    return after["candidates"] - before["candidates"], after["predicate_tests"] - before["predicate_tests"]


@given(st.lists(boxes, min_size=LEAST_MEMBERS, max_size=60), st.lists(points, max_size=5))
def test_boxes(expressions: list[Expression], events: list[dict[str, int]]) -> None:
    engine = filled(expressions)
    for event in events:
        expected = [position for position, each in enumerate(expressions) if each.matches(event)]
        assert sorted(engine.match(event)) == sorted(engine.find(event)) == expected
    engine.check_invariants()


@given(st.lists(conjunctions(), max_size=10), st.lists(events(), max_size=5))
def test_any_conjunction_in_a_tree_that_many_share(expressions: list[Expression], events: list[dict[str, Any]]) -> None:
    many = [each for each in expressions for _ in range(LEAST_MEMBERS)]
    engine = filled(many)
    for event in events:
        expected = [position for position, each in enumerate(many) if each.matches(event)]
        assert sorted(engine.match(event)) == expected
    engine.check_invariants()


_steps = st.one_of(
    st.tuples(st.just("add"), boxes | conjunctions()),
    st.tuples(st.just("remove"), st.integers(0, 1 << 16)),
    st.tuples(st.just("match"), points | events()),
)


@given(st.lists(boxes, min_size=LEAST_MEMBERS, max_size=40), st.lists(_steps, max_size=60))
def test_trees_stay_right_as_cuts_and_subscriptions_come_and_go(start: list[Expression], steps: list[Any]) -> None:
    engine = filled(start)
    held = dict(enumerate(start))
    free: list[int] = []
    for what, argument in steps:
        if what == "add":
            position = free.pop() if free else len(held)
            held[position] = argument
            engine.add(position, argument)
        elif what == "match":
            expected = [position for position, each in held.items() if each.matches(argument)]
            assert sorted(engine.match(argument)) == sorted(expected)
        elif held:
            position = list(held)[argument % len(held)]
            free.append(position)
            del held[position]
            engine.remove(position)
        engine.check_invariants()


@given(st.lists(boxes, max_size=60), points, st.integers(0, 8))
def test_a_limit_is_respected(expressions: list[Expression], event: dict[str, int], limit: int) -> None:
    engine = filled(expressions)
    expected = {position for position, each in enumerate(expressions) if each.matches(event)}
    found = engine.find(event, limit)
    assert len(found) == len(set(found)) == min(limit, len(expected))
    assert set(found) <= expected


def test_few_boxes_are_reached() -> None:
    engine = uniform(2_000)
    event = {"a": 0.5, "b": 0.5}
    matches = len(engine.match(event))
    candidates, _ = work(engine, event, 2_000)
    assert 50 < matches <= candidates < 2 * matches


def test_a_point_outside_of_all_boxes_reaches_none() -> None:
    engine = uniform(2_000)
    assert engine.match({"a": 0.5, "b": 3}) == []
    assert engine.match({"a": 0.5}) == []
    assert engine.stats()["candidates"] == 0


def test_an_early_exit_leaves_the_rest_alone() -> None:
    engine = uniform(2_000)
    event = {"a": 0.5, "b": 0.5}
    one, ten, all_of_them = (work(engine, event, limit) for limit in (1, 10, 2_000))
    assert one[0] < ten[0] < all_of_them[0]
    assert one[1] < ten[1] < all_of_them[1]
    assert work(engine, event, 0) == (0, 0)


def test_newcomers_are_found_at_once_and_planted_when_they_are_many() -> None:
    engine = uniform(100)
    engine.match({"a": 0.1, "b": 0.1})
    outside = {"a": 7, "b": 7}
    for number in range(100, 400):
        engine.add(number, tamis.parse(f"a between {number} and {number + 1} and b > {number}"))
        assert engine.find({"a": number + 0.5, "b": 1_000}) == [number]
        assert work(engine, outside, 1)[0] < 100
    engine.check_invariants()


def test_removed_boxes_are_no_candidates_and_go_when_they_are_many() -> None:
    engine = uniform(1_000)
    event = {"a": 0.5, "b": 0.5}
    expected = set(engine.match(event))
    size = engine.extra_bytes()
    for position in range(800):
        engine.remove(position)
        expected.discard(position)
        if position % 50 == 0:
            assert set(engine.match(event)) == expected
            engine.check_invariants()
    assert set(engine.match(event)) == expected
    assert engine.extra_bytes() < size
    assert work(engine, event, 1_000)[0] < 3 * len(expected)


def test_a_position_is_used_again() -> None:
    engine = uniform(50)
    engine.match({"a": 0.5})
    engine.remove(3)
    engine.add(3, tamis.parse("a = 9 and b = 9"))
    assert engine.match({"a": 9, "b": 9}) == [3]
    engine.remove(3)
    assert engine.match({"a": 9, "b": 9}) == []
    engine.check_invariants()


def test_damage_is_found() -> None:
    engine = uniform(50)
    engine.match({"a": 0.5})
    engine._trees.positions[3] = -1
    with pytest.raises(AssertionError):
        engine.check_invariants()
