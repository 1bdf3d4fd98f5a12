"""Snapshots: the same tree after a journey, and how different two are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.prefixes import conditions, crowded, golden_tree, tree_of
from tamis.language import Expression, parse
from tamis.routing.prefix import Snapshot, decoded, wdiff
from tamis.routing.prefix.region import Region
from tamis.routing.prefix.snapshot import EMPTY, Spot


def weights(snapshot: Snapshot) -> dict[tuple[Region, ...], float]:
    """The oracle for `wdiff`: every path with its weight."""
    found: dict[tuple[Region, ...], float] = {}
    waiting: list[tuple[Spot, tuple[Region, ...]]] = [(snapshot.root, ())]
    while waiting:
        spot, path = waiting.pop()
        for child in spot.children:
            below = (*path, child.region)
            found[below] = 1 / len(below)
            waiting.append((child, below))
    return found


@given(st.lists(conditions, max_size=6), st.lists(conditions, max_size=6))
@settings(max_examples=40)
def test_wdiff(left: list[Expression], right: list[Expression]) -> None:
    a, b = tree_of(left).snapshot(), tree_of([*left, *right]).snapshot()
    for one, other in ((a, b), (b, a), (a, a), (a, EMPTY)):
        first, second = weights(one), weights(other)
        size = sum(first.values()) + sum(second.values())
        different = sum(weight for path, weight in (first | second).items() if (path in first) is not (path in second))
        assert wdiff(one, other) == pytest.approx(different / size if size else 0)
        assert 0 <= wdiff(one, other) <= 1
        assert wdiff(one, other) == wdiff(other, one)
        assert (wdiff(one, other) == 0) is (first.keys() == second.keys())


def test_growth_by_addition_needs_the_factor_of_the_threshold() -> None:
    # (1 + θ) / (1 - θ): from 7 nodes of the first level to 13 it is 0.3.
    a, b, c = (tree_of([parse(f"x = {i}") for i in range(n)]).snapshot() for n in (7, 13, 14))
    assert wdiff(a, b) == pytest.approx(0.3)
    assert wdiff(a, c) > 0.3


@given(st.lists(conditions, max_size=8))
@settings(max_examples=40)
def test_a_journey_changes_nothing(wanted: list[Expression]) -> None:
    sent = tree_of(wanted).snapshot(7)
    come = decoded(sent.encoded)
    assert (come.epoch, come.seal, len(come), come.levels) == (7, sent.seal, len(sent), sent.levels)
    assert wdiff(sent, come) == 0
    assert [(spot.region, spot.number, spot.end, spot.order) for spot in come.spots()][1:] == [
        (spot.region, spot.number, spot.end, spot.order) for spot in sent.spots()
    ][1:]


@given(st.lists(crowded, min_size=1, max_size=8))
@settings(max_examples=50)
def test_children_are_found_by_their_regions(wanted: list[Expression]) -> None:
    snapshot = tree_of(wanted).snapshot()
    for spot in snapshot.spots():
        assert all(spot.find(child.region) is child for child in spot.children)
        assert [child.order for child in spot.children] == list(range(len(spot.children)))
        assert spot.end - spot.number == 1 + sum(child.end - child.number for child in spot.children)


def test_the_seal_tells_trees_of_one_epoch_apart() -> None:
    tree = golden_tree()
    assert tree.snapshot(1).seal == tree.snapshot(1).seal
    assert tree.snapshot(1).seal != tree.snapshot(2).seal
    assert tree.snapshot(1).seal != tree_of([parse("x > 5")]).snapshot(1).seal


def test_a_damaged_tree_is_refused() -> None:
    whole = golden_tree().snapshot(1).encoded
    with pytest.raises(ValueError, match="other nodes"):
        decoded(whole[:-1] + b"\x01")
    with pytest.raises(ValueError, match="truncated"):
        decoded(whole[:-1])
