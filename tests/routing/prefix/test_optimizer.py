"""The tree optimiser: when there is a new tree, and how much it differs."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.prefixes import conditions, one_filter, tree_of
from tamis.language import Expression, parse
from tamis.routing.prefix import Optimizer, filters, wdiff


@given(st.lists(conditions, max_size=12), st.sampled_from((0.0, 0.3, 0.8)), st.randoms())
@settings(max_examples=50)
def test_it_publishes_when_the_difference_exceeds_the_threshold(
    wanted: list[Expression], threshold: float, chance: random.Random
) -> None:
    optimizer = Optimizer(threshold)
    held: list[Expression] = []
    for condition in wanted:
        held.append(condition)
        for part in filters(condition):
            optimizer.add(part)
        if chance.random() < 0.4:
            for part in filters(held.pop(chance.randrange(len(held)))):
                optimizer.remove(part)
        optimizer.tree.check_invariants()
        before = optimizer.published
        difference = wdiff(optimizer.tree.snapshot(), before)
        assert optimizer.difference == pytest.approx(difference)
        assert (optimizer.difference == 0) is (difference == 0)
        update = optimizer.update(now=0)
        assert (update is not None) is (optimizer.published is not before)
        if update is None:
            assert difference <= threshold
        else:
            assert difference > threshold
            assert update.epoch == before.epoch + 1
            assert optimizer.difference == 0
            assert optimizer.update(now=0) is None


def test_what_comes_back_is_no_difference() -> None:
    optimizer = Optimizer()
    for text in ("x > 5 and y < 3", "x = 1", "y > 2"):
        optimizer.add(one_filter(text))
    assert optimizer.update(0) is not None
    optimizer.remove(one_filter("x = 1"))
    assert optimizer.difference > 0
    optimizer.add(one_filter("x = 1"))
    assert optimizer.difference == 0


def test_with_time_small_differences_are_published_too() -> None:
    optimizer = Optimizer(threshold=1, interval=10)
    optimizer.add(one_filter("x > 5"))
    assert optimizer.update(9.9) is None
    update = optimizer.update(10)
    assert update is not None
    assert optimizer.update(30) is None
    optimizer.add(one_filter("x > 6"))
    again = optimizer.update(30)
    assert again is not None
    assert again.epoch == 2


def test_an_optimizer_that_has_lost_its_memory_goes_on() -> None:
    optimizer = Optimizer()
    optimizer.learn(tree_of([parse("x > 5")]).snapshot(41))
    assert optimizer.difference == 1
    optimizer.add(one_filter("x > 5"))
    assert optimizer.difference == 0
    optimizer.add(one_filter("y > 5"))
    update = optimizer.update(0)
    assert update is not None
    assert update.epoch == 42
    optimizer.learn(tree_of([]).snapshot(3))
    assert optimizer.published is update


def test_a_threshold_is_a_difference() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Optimizer(threshold=1.5)
