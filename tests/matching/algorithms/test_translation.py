from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import events, expressions
from tamis.language import Expression
from tamis.matching.algorithms.translation import Translation
from tamis.matching.ranks import rank_engine


def engine_with(*texts: str) -> Translation:
    engine = Translation()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    engine.check_invariants()
    return engine


#: 3 ** 6 clauses.
LARGE = " and ".join(f"(a{number} = 1 or b{number} = 1 or c{number} = 1)" for number in range(6))


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)", 6),
        ("(a = 1 or a = 2) and a > 1", 1),
        ("(a = 1 or b = 1) and a > 1", 1),
        ("(a = 1 and b = 1) or (b = 1 and a = 1)", 1),
        ("a = 1 and a = 2", 0),
        ("a = 1 or true", 1),
    ],
)
def test_clauses(text: str, clauses: int) -> None:
    assert engine_with(text).stats()["clauses"] == clauses


def test_an_expression_is_found_once() -> None:
    engine = engine_with("x = 5 or y = 5", "(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)")
    assert engine.match({"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}) == [1]
    assert engine.stats()["untranslated"] == 0


def test_what_has_too_many_clauses_is_evaluated() -> None:
    engine = engine_with("a0 = 1 or b0 = 1", LARGE, f"not ({LARGE})")
    assert engine.stats()["untranslated"] == 1
    event = {f"b{number}": 1 for number in range(6)}
    assert sorted(engine.match(event)) == [0, 1]
    assert engine.match({**event, "b3": 2}) == [0]
    engine.remove(1)
    engine.check_invariants()
    assert engine.match(event) == [0]
    engine.add(1, tamis.parse(LARGE))
    assert sorted(engine.match(event)) == [0, 1]
    for position in range(3):
        engine.remove(position)
    assert engine.stats()["predicates"] == engine.stats()["untranslated"] == 0


def test_all_that_is_not_translated_can_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_engine, "_SPARE_ANSWERS", 0)
    engine = engine_with(*[LARGE] * 10)
    assert sorted(engine.match({f"b{number}": 1 for number in range(6)})) == list(range(10))


def test_clocks_start_anew() -> None:
    engine = engine_with("a = 1 or b = 1")
    assert engine.match({"a": 1, "b": 1}) == [0]
    engine.scratch("clock", 1)[0] = (1 << 30) + 1
    for number in range(1, 4):
        assert engine.match({"a": 1, "b": 1}) == [0]
        assert engine.scratch("clock", 1)[0] == number


@given(st.lists(st.tuples(st.integers(0, 6), expressions(), events()), max_size=12))
def test_what_comes_and_goes(history: list[tuple[int, Expression, dict[str, Any]]]) -> None:
    engine = Translation()
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
    assert engine.stats()["predicates"] == engine.stats()["clauses"] == 0
