"""The trees: the circular order, what is looked at, and rebuilding (specs/003 §5, 5 to 7)."""

import math
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES, Setting
from tamis.notification.tree import FAN
from tamis.notification.twolevel import LabelTree, RadiusTree, TwoLevel

moves = st.lists(st.one_of(st.integers(-30, 30), st.just(None)), max_size=60)


@settings(max_examples=2 * EXAMPLES)
@given(moves=moves)
def test_the_circular_order_never_changes(moves: list[int | None]) -> None:
    radius, value = 20.0, 0.0
    tree = LabelTree()
    tree.update(value)
    count, distinct = 0, 0
    for move in moves:
        if move is None:
            tree.add(count, radius, radius)
            count += 1
            distinct = len({row.centre for row in tree.rows()})
            continue
        order = [row.handle for row in tree.rows()]
        value += move
        tree.update(value)
        rows = tree.rows()
        assert [row.handle for row in rows] == order
        centres = [row.centre for row in rows]
        # Round the circle centres ascend, but for one place at most: the boundary.
        descents = sum(centres[each - 1] > centres[each] for each in range(len(centres)))
        assert descents <= 1
        assert not centres or max(centres) - min(centres) < radius
        assert len(set(centres)) <= distinct
        distinct = len(set(centres))
        assert len(tree.ranges()) <= 1


def test_few_nodes_are_looked_at_for_a_range() -> None:
    source = np.random.default_rng(2)
    count = 5_000
    radii = np.unique(source.integers(1, 200_000, count)).astype(np.float64)
    tree = RadiusTree()
    tree.add_many(range(len(radii)), radii, radii)
    tree.update(0.0)
    height = math.ceil(math.log(len(radii) / 0.75, FAN))
    value = 0.0
    for step in source.normal(400, 3_000, 400).tolist():
        value += round(step)
        tree.update(value)
        # Two paths for each range, and all children of each node on them.
        assert tree.visits <= 2 * FAN * (tree.range_count + 1) * (height + 1)


def test_one_radius_is_looked_at_in_constant_time() -> None:
    source = np.random.default_rng(2)
    tree = LabelTree()
    tree.update(0.0)
    value = 0.0
    for handle in range(2_000):
        value += float(source.integers(-10, 11))
        tree.update(value)
        tree.add(handle, 1_000.0, 1_000.0)
        assert tree.visits <= 2 * FAN


def test_a_large_tree_that_grows_and_shrinks_one_by_one() -> None:
    source = random.Random(4)
    tree, judge = TwoLevel(), Setting("endpoints").make()
    value, live = 0.0, []
    for number in range(3_000):
        radius = float(source.choice([source.randint(1, 500), source.randint(1, 20)]))
        for each in (tree, judge):
            each.add(number, radius, radius)
        live.append(number)
        if number % 3 == 2 or number > 2_000:
            gone = live.pop(source.randrange(len(live)))
            for each in (tree, judge):
                each.remove(gone)
        value += source.choice([-7, -1, 1, 3, 11])
        for each in (tree, judge):
            each.update(value)
        assert np.array_equal(np.sort(tree.affected()), np.sort(judge.affected()))
    tree.check_invariants()
    assert len(tree) == len(live)


def test_radius_ranges_are_the_ends_of_ranges() -> None:
    source = random.Random(6)
    tree = TwoLevel()
    tree.update(0.0)
    value = 0.0
    for number in range(200):
        tree.add(number, 1.0 + number % 60, 1.0 + number % 60)
        value += source.randint(-20, 20)
        tree.update(value)
        assert tree.radius_ranges().tolist() == [[each.low, each.high] for each in tree.ranges()]
