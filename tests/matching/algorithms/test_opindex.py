from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import conjunctions, events
from tamis.lab.workloads import Ads, generate
from tamis.language import Expression
from tamis.matching.algorithms.opindex import Mode, OpIndex

modes = st.sampled_from(get_args(Mode))


def engine_with(*texts: str, mode: Mode = "sorted-at-end") -> OpIndex:
    engine = OpIndex(mode)
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return engine


def candidates(engine: OpIndex, event: dict[str, Any]) -> int:
    before = engine.stats()["candidates"]
    engine.match(event)
    return int(engine.stats()["candidates"] - before)


@given(modes, st.lists(st.tuples(st.integers(0, 6), conjunctions(), events()), max_size=12))
def test_matches_are_those_of_the_language(mode: Mode, history: list[tuple[int, Expression, dict[str, Any]]]) -> None:
    engine = OpIndex(mode)
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


@given(modes, st.lists(conjunctions(), max_size=20), st.sets(st.integers(0, 19)), events())
def test_many_come_and_go_without_an_event(
    mode: Mode, expressions: list[Expression], removed: set[int], event: dict[str, Any]
) -> None:
    engine = OpIndex(mode)
    engine.add_many(range(len(expressions)), expressions)
    stored = set(range(len(expressions)))
    for position in removed & stored:
        engine.remove(position)
    engine.check_invariants()
    assert sorted(engine.match(event)) == sorted(each for each in stored - removed if expressions[each].matches(event))


@pytest.mark.parametrize("mode", get_args(Mode))
def test_a_workload(mode: Mode) -> None:
    workload = generate(Ads(subscriptions=400, events=30))
    expressions = [tamis.parse(text) for text in workload.conditions.texts().to_pylist()]
    engine = OpIndex(mode)
    engine.add_many(range(len(expressions)), expressions)
    engine.check_invariants()
    found = 0
    for event in workload.events.rows():
        expected = [position for position, each in enumerate(expressions) if each.matches(event)]
        assert sorted(engine.match(event)) == expected
        found += len(expected)
    assert found > 0


def test_the_rarest_attribute_is_the_pivot() -> None:
    engine = engine_with(
        "common = 1 and rare = 1", "common = 1 and other = 1", "common = 1 and other = 2", "common = 1"
    )
    assert candidates(engine, {"common": 1}) == 1
    assert candidates(engine, {"common": 1, "rare": 2}) == 2
    assert candidates(engine, {"common": 1, "other": 1}) == 3
    assert candidates(engine, {"rare": 1}) == 1


def test_an_event_without_the_pivot_looks_at_nothing() -> None:
    engine = engine_with(*(f"common = {number} and rare = 1" for number in range(50)), "common >= 0")
    before = engine.stats()["predicate_tests"]
    assert engine.match({"common": 7}) == [50]
    assert engine.stats()["predicate_tests"] - before == 1


def test_a_predicate_that_takes_null_is_no_pivot() -> None:
    engine = engine_with("rare is null and a = 1 and b = 2", "a = 1", "b = 2")
    assert sorted(engine.match({"a": 1, "b": 2})) == [0, 1, 2]
    assert sorted(engine.match({"a": 1, "b": 2, "rare": 3})) == [1, 2]
    assert engine.match({"rare": 3}) == []


def test_values_of_other_kinds_do_not_meet_half_lines() -> None:
    engine = engine_with("a < 5", "a > 5", "a < 'm'", "a > 'm'", "a <> 5", "a <> 'm'", "a is not null")
    assert sorted(engine.match({"a": 1})) == [0, 4, 6]
    assert sorted(engine.match({"a": 9})) == [1, 4, 6]
    assert sorted(engine.match({"a": "b"})) == [2, 5, 6]
    assert sorted(engine.match({"a": "x"})) == [3, 5, 6]
    assert sorted(engine.match({"a": True})) == [6]


def test_counters_start_anew() -> None:
    engine = engine_with("a = 1 and b = 2", "a > 0 and b > 0 and c > 0")
    engine.match({})
    engine.scratch("base", 1)[0] = (1 << 30) - 8
    for _ in range(12):
        assert engine.match({"a": 1, "b": 2}) == [0]
    assert engine.scratch("base", 1)[0] < 1 << 20


def test_a_mode_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="sorted-after-each or sorted-at-end, not 'sorted'"):
        OpIndex("sorted")  # type: ignore[arg-type]
