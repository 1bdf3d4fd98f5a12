from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import conjunctions, events
from tamis.language import Expression
from tamis.matching.algorithms.propagation import Propagation


def filled(texts: list[str]) -> Propagation:
    engine = Propagation()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return engine


_sides = st.integers(0, 12).flatmap(lambda low: st.tuples(st.just(low), st.integers(low, 12)))


@given(st.lists(st.tuples(_sides, _sides), max_size=60), st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12))))
def test_boxes(boxes: list[Any], points: list[tuple[int, int]]) -> None:
    engine = filled([f"a between {a} and {b} and b between {c} and {d}" for (a, b), (c, d) in boxes])
    engine.check_invariants()
    for x, y in points:
        expected = [at for at, ((a, b), (c, d)) in enumerate(boxes) if a <= x <= b and c <= y <= d]
        assert sorted(engine.match({"a": x, "b": y})) == expected


@given(
    st.lists(conjunctions(), max_size=12),
    st.lists(conjunctions(), max_size=6),
    st.lists(events(), max_size=5),
    st.data(),
)
def test_any_conjunction_as_subscriptions_come_and_go(
    many: list[Expression], few: list[Expression], events: list[dict[str, Any]], data: st.DataObject
) -> None:
    engine = Propagation()
    engine.add_many(range(len(many)), many)
    held = dict(enumerate(many))
    for position, expression in enumerate(few, start=len(many)):
        engine.add(position, expression)
        held[position] = expression
    for position in data.draw(st.lists(st.sampled_from(list(held)), unique=True)) if held else []:
        engine.remove(position)
        del held[position]
        engine.check_invariants()
    for event in events:
        expected = [position for position, each in held.items() if each.matches(event)]
        assert sorted(engine.match(event)) == sorted(expected)


def test_only_the_access_predicate_leads_to_candidates() -> None:
    engine = filled(["a = 1 and b > 0", "a = 1 and b > 5", "a = 2 and b > 0", "b > 0"])
    assert sorted(engine.match({"a": 1, "b": 3})) == [0, 3]
    assert engine.stats()["candidates"] == 3


def test_the_access_predicate_is_the_one_that_the_fewest_events_met() -> None:
    engine = filled(["x > 7 and y > 7"])
    for _ in range(5):
        engine.match({"x": 9})
    engine.add(1, tamis.parse("x = 9 and y > 7"))
    candidates = engine.stats()["candidates"]
    assert engine.match({"x": 9, "y": 1}) == []
    assert engine.stats()["candidates"] == candidates + 1


def test_a_shared_predicate_is_compared_once() -> None:
    engine = filled([f"a > 5 and b = {number}" for number in range(100)])
    assert engine.match({"a": 9, "b": 7}) == [7]
    stats = engine.stats()
    # One comparison for a > 5, and the two bits of the only candidate.
    assert (stats["candidates"], stats["predicate_tests"]) == (1, 3)


@pytest.mark.parametrize("count", [31, 32, 33, 64, 65, 1_000])
def test_bits_do_not_leak_between_predicates_or_events(count: int) -> None:
    engine = filled([f"a = {number} and b < {number}" for number in range(count)])
    for number in (*range(max(0, count - 70), count), 0):
        assert engine.match({"a": number, "b": number - 1}) == [number]
        assert engine.match({"a": number, "b": number}) == []
        assert engine.match({"a": number}) == []


def test_predicates_that_take_null_have_their_bit_when_the_attribute_is_missing() -> None:
    engine = filled(["a = 1 and b is null", "a = 1 and b is not null", "a is null and b = 2"])
    assert engine.match({"a": 1}) == [0]
    assert engine.match({"a": 1, "b": 2}) == [1]
    assert engine.match({"b": 2}) == [2]
    engine.check_invariants()


def test_nothing_is_left_when_all_are_gone() -> None:
    texts = ["a = 1 and b in (1, 2)", "a <> 1 and b is null", "s like 'a%' and a not between 2 and 4"]
    engine = filled(texts)
    for position in range(len(texts)):
        engine.remove(position)
        engine.check_invariants()
    assert engine.stats()["predicates"] == 0
    assert engine.match({"a": 1, "b": 1, "s": "ab"}) == []


def test_damage_is_found() -> None:
    engine = filled(["a = 1 and b > 0"])
    engine._named.clear(engine.space.bounds[int(engine._access[0])][0])
    with pytest.raises(AssertionError):
        engine.check_invariants()
