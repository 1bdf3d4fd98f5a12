from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import events, expressions
from tamis.language import Expression
from tamis.matching.algorithms.bop import Bop
from tamis.matching.algorithms.bytecode import BITS, TAG


def engine_with(*texts: str) -> Bop:
    engine = Bop()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return engine


def candidates(engine: Bop, event: dict[str, Any]) -> int:
    before = engine.stats()["candidates"]
    engine.match(event)
    return int(engine.stats()["candidates"] - before)


def test_byte_code() -> None:
    engine = engine_with("(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)")
    words = [(word & TAG, word >> BITS) for word in engine.code[0].tolist()]
    assert words == [(1, 3), (2, 3), (4, 0), (4, 1), (4, 2), (4, 3), (2, 2), (4, 4), (4, 5)]


@pytest.mark.parametrize(
    ("text", "minimum"),
    [
        ("(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)", 3),
        ("a = 1 or (b = 1 and c = 1)", 1),
        ("(a = 1 and b = 1 and c = 1) or (d = 1 and e = 1)", 2),
        ("a = 1", 1),
    ],
)
def test_minima(text: str, minimum: int) -> None:
    engine = engine_with("z = 1 and y = 1", text)
    assert engine.minimum[:2].tolist() == [2, minimum]


def test_as_many_as_needed_make_a_candidate() -> None:
    engine = engine_with("(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)")
    assert candidates(engine, {"a": 1, "d": 1}) == 0
    assert candidates(engine, {"a": 1, "b": 1, "c": 1}) == 1
    assert engine.match({"a": 1, "b": 1, "c": 1}) == []
    assert engine.match({"a": 1, "d": 1, "f": 1}) == [0]


def test_a_leaf_counts_as_often_as_it_occurs() -> None:
    engine = engine_with("a = 1 and (a = 1 or b = 1)")
    assert engine.match({"a": 1}) == [0]
    assert engine.match({"b": 1}) == []


def test_parts_that_do_not_matter_are_skipped() -> None:
    engine = engine_with("(a = 1 and (b = 1 or c = 1)) or d = 1 or e = 1")
    before = engine.stats()["predicate_tests"]
    assert engine.match({"d": 1}) == [0]
    assert engine.stats()["predicate_tests"] - before == 4


def test_what_is_written_twice_is_released_once() -> None:
    # What is the same in it is one leaf, so its byte code is no longer than its form.
    text = "((a = 1 and true) = (b = 1 and true)) = (c = 1 and true)"
    engine = engine_with(text, text)
    for position in range(2):
        assert sorted(engine.match({"a": 2, "b": 2, "c": 1})) == list(range(position, 2))
        engine.remove(position)
        engine.check_invariants()
    assert engine.stats()["predicates"] == 0


@given(st.lists(st.tuples(st.integers(0, 6), expressions(), events()), max_size=12))
def test_what_comes_and_goes(history: list[tuple[int, Expression, dict[str, Any]]]) -> None:
    engine = Bop()
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
    for position in stored:
        engine.remove(position)
    engine.check_invariants()
    assert engine.stats()["predicates"] == 0
