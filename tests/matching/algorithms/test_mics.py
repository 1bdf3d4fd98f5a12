from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.histories import check_histories, crowded_conjunctions, crowded_events
from tamis.language import Expression
from tamis.matching.algorithms.curvegroups import LEAST_MEMBERS
from tamis.matching.algorithms.mics import NEWCOMERS, Mics, MicsRanges


def uniform(count: int, engine: Mics, side: float = 0.1) -> Mics:
    """Return cubes in the unit cube, of which one attribute says nothing."""
    low = np.random.default_rng(7).uniform(0, 1 - side, (count, 3)).tolist()
    texts = [
        f"a between {a} and {a + side} and b between {b} and {b + side} and c between {c} and {c + side} and d >= 0"
        for a, b, c in low
    ]
    engine.add_many(range(count), [tamis.parse(text) for text in texts])
    return engine


def test_histories() -> None:
    check_histories(Mics)


@given(st.lists(crowded_conjunctions(), min_size=LEAST_MEMBERS, max_size=60), st.lists(crowded_events(), max_size=5))
def test_ranges_are_a_superset(conditions: list[Expression], events: list[dict[str, Any]]) -> None:
    exact, rough = Mics(), MicsRanges()
    for engine in (exact, rough):
        engine.add_many(range(len(conditions)), conditions)
    for event in events:
        expected = {position for position, each in enumerate(conditions) if each.matches(event)}
        found = rough.match(event)
        assert len(found) == len(set(found))
        assert set(found) >= expected == set(exact.match(event))


def test_few_boxes_are_looked_at() -> None:
    engine = uniform(5000, Mics())
    rng = np.random.default_rng(8)
    matches = 0
    for a, b, c in rng.uniform(0, 1, (200, 3)).tolist():
        matches += len(engine.match({"a": a, "b": b, "c": c, "d": 1}))
        assert engine.match({"a": a, "b": b, "c": c}) == []
    # About 5 of 5,000 match; the cells of the curve and the budget of runs let in a few more.
    assert matches <= engine.stats()["candidates"] / 2 <= 4 * matches
    assert matches > 500


def test_the_attributes_that_tell_least_apart_are_not_on_the_curve() -> None:
    engine = uniform(500, Mics())
    engine.match({})
    names = {engine.space._names[each] for each in engine._grouping.dimensions[0].tolist()}
    assert engine._grouping.axes.tolist() == [3]
    assert names == {"a", "b", "c"}


def test_rare_sets_of_attributes_get_together_by_what_is_most_selective() -> None:
    engine = Mics()
    texts = [f"a{number} > 0 and shared = {number}" for number in range(LEAST_MEMBERS - 1)]
    texts += [f"shared = {number} and other = 2" for number in range(LEAST_MEMBERS)]
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    assert sorted(engine.match({"a3": 1, "shared": 3, "other": 2})) == [3, LEAST_MEMBERS + 2]
    assert sorted(engine._grouping.axes.tolist()) == [1, 2]


def test_what_comes_later_goes_to_the_same_curves() -> None:
    engine = uniform(400, Mics())
    engine.match({"a": 0.5})
    late = [tamis.parse(f"a between {n} and {n + 0.5} and b = {n} and c = 0 and d = 1") for n in np.linspace(0, 1, 50)]
    for position, expression in enumerate(late, start=1000):
        engine.add(position, expression)
    assert engine._waiting == 0
    for n in np.linspace(0, 1, 50).tolist():
        found = engine.match({"a": n, "b": n, "c": 0, "d": 1})
        assert [each for each in found if each >= 1000] == [1000 + round(49 * n)]
    engine.check_invariants()


def test_everything_is_grouped_anew_when_it_has_changed_much() -> None:
    engine = uniform(400, Mics())
    engine.match({})
    first = engine._grouping
    for position in range(190):
        engine.remove(position)
    engine.match({})
    assert engine._grouping is first
    for position in range(190, 210):
        engine.remove(position)
    engine.match({})
    second = engine._grouping
    assert second is not first
    for position in range(NEWCOMERS * 14 + 1):
        engine.add(position, tamis.parse(f"e{position} = 1"))
    assert engine.match({"e5": 1}) == [5]
    assert engine._grouping is not second
    assert engine._waiting == 0
    engine.check_invariants()


def test_an_attribute_that_takes_the_number_of_another() -> None:
    engine = uniform(50, Mics())
    engine.match({})
    for position in range(50):
        engine.remove(position)
    engine.add_many(range(20), [tamis.parse(f"z between {n} and {n + 3} and y > {n}") for n in range(20)])
    for n in range(-1, 25):
        expected = [each for each in range(20) if each <= n <= each + 3 and n > each]
        assert sorted(engine.match({"z": n, "y": n})) == expected
    engine.check_invariants()


def test_damage_is_found() -> None:
    engine = uniform(50, Mics())
    engine.match({"a": 0.5})
    engine._positions[3] = -1
    with pytest.raises(AssertionError):
        engine.check_invariants()
