from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.histories import check_histories, crowded_conjunctions, crowded_events
from tamis.language import Expression
from tamis.matching.algorithms import pstbloom
from tamis.matching.algorithms.pstbloom import PSTBloom
from tamis.matching.ranks.encoding import encode

#: The subscriptions of the source (specs/002 §5), over bytes.
VECTOR = ("a1 < -5 and a2 between 1 and 5", "a1 between -5 and -1 and a2 < 1", "a1 between -5 and -1 and a2 > 5")


@pytest.fixture(autouse=True)
def _both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some additions are few and some are many."""
    monkeypatch.setattr(pstbloom, "BULK", 4)


def engine_with(expressions: list[Expression], engine: PSTBloom | None = None) -> PSTBloom:
    engine = engine or PSTBloom()
    engine.add_many(range(len(expressions)), expressions)
    return engine


@pytest.mark.parametrize("make", [PSTBloom, partial(PSTBloom, 8, 1), partial(PSTBloom, signature="exact")])
def test_the_vector_of_the_source(make: Callable[[], PSTBloom]) -> None:
    expressions = [tamis.parse(text) for text in VECTOR]
    engine = engine_with(expressions, make())
    names = {number: name for name, numbers in engine.space.by_first.items() for number in numbers}
    assert [names[engine.space.dimension[engine.held[each][0]]] for each in range(3)] == ["a2", "a1", "a1"]
    for first in range(-9, 3):
        for second in range(-2, 9):
            event = {"a1": first, "a2": second}
            assert sorted(engine.match(event)) == [n for n, each in enumerate(expressions) if each.matches(event)]
    engine.check_invariants()


@pytest.mark.parametrize(("m", "k"), [(8, 1), (3, 5)])
def test_histories(m: int, k: int) -> None:
    check_histories(lambda: PSTBloom(m, k))


def test_histories_with_exact_signatures() -> None:
    check_histories(lambda: PSTBloom(signature="exact"))


@given(st.lists(crowded_conjunctions(), max_size=12), crowded_events())
def test_candidates_are_those_whose_access_predicate_is_met(
    expressions: list[Expression], event: dict[str, Any]
) -> None:
    engine = engine_with(expressions)
    leaves = set(encode(engine.space, (event,)).leaves.tolist())
    stored = [each for each in range(len(expressions)) if len(engine.held[each])]
    access = [engine.held[each][0] for each in stored if not engine.space.takes_null[engine.held[each][0]]]
    met = sum(bool(leaves & set(engine.space.leaves_of(each).tolist())) for each in access)
    everywhere = len(stored) - len(access)
    engine.match(event)
    assert engine.stats()["candidates"] == met + everywhere


def test_signatures_save_tests() -> None:
    expressions = [tamis.parse(f"a = 1 and b <> {number} and c > {number}") for number in range(64)]
    event = {"a": 1, "b": 5, "c": 3}
    tests = {}
    for name, engine in {"exact": PSTBloom(signature="exact"), "useless": PSTBloom(1, 1)}.items():
        engine_with(expressions, engine)
        assert sorted(engine.match(event)) == [0, 1, 2]
        tests[name] = engine.stats()["predicate_tests"]
    assert tests["exact"] == 6
    assert tests["useless"] >= 64


def test_history_decides_the_access_predicate() -> None:
    engine = engine_with([tamis.parse("a = 1 and b > 0")])
    for _ in range(3):
        engine.match({"a": 1, "b": 0})
    engine.add(1, tamis.parse("a = 1 and b > 0"))
    first, second = (engine.space.dimension[engine.held[each][0]] for each in range(2))
    assert first != second
    assert sorted(engine.match({"a": 1, "b": 1})) == [0, 1]
    engine.check_invariants()


def test_nothing_is_left_after_all_is_removed() -> None:
    engine = engine_with([tamis.parse(f"a = {number} and b < {number}") for number in range(50)])
    for position in range(50):
        engine.remove(position)
        engine.check_invariants()
    assert engine.match({"a": 1, "b": 0}) == []
    assert engine.stats()["predicates"] == 0
