from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import conjunctions, events
from tamis.language import Expression
from tamis.matching.algorithms.counting import Counting


def engine_with(expressions: list[Expression]) -> Counting:
    engine = Counting()
    engine.add_many(range(len(expressions)), expressions)
    return engine


@given(st.lists(conjunctions(), max_size=12), events(), st.integers(1, 4))
def test_find_respects_its_limit(expressions: list[Expression], event: dict[str, Any], limit: int) -> None:
    engine = engine_with(expressions)
    matching = {position for position, each in enumerate(expressions) if each.matches(event)}
    found = engine.find(event, limit)
    assert set(engine.find(event)) == matching
    assert set(found) <= matching
    assert len(found) == len(set(found)) == min(limit, len(matching))


def test_find_stops_early() -> None:
    engine = engine_with([tamis.parse(f"x > {number % 50} and y > 0") for number in range(1_000)])
    event = {"x": 100, "y": 1}
    assert len(engine.find(event)) == 1_000
    everything = engine.stats()["predicate_tests"]
    assert len(engine.find(event, 1)) == 1
    assert engine.stats()["predicate_tests"] - everything <= everything * 0.6


def test_equal_predicates_are_met_once_for_all() -> None:
    engine = engine_with([tamis.parse("x = 1 and y = 2")] * 100)
    assert engine.stats()["predicates"] == 2
    assert sorted(engine.match({"x": 1, "y": 2})) == list(range(100))
    for position in range(100):
        engine.remove(position)
    assert engine.stats()["predicates"] == 0
    engine.check_invariants()
