"""The forest derived from the POSET (specs/000 §5)."""

import numpy as np

from tamis.covering.boxes import Boxes
from tamis.covering.graphs.forest import Forest
from tamis.covering.graphs.poset import Poset


def add(relation: Boxes, graph: Forest | Poset, handle: int, low: list[int], high: list[int]) -> None:
    relation.add(handle, np.array(low), np.array(high))
    graph.add(handle)


def test_children_are_placed_anew_when_their_parent_goes() -> None:
    relation = Boxes(1)
    forest = Forest(relation)
    add(relation, forest, 0, [0], [100])
    add(relation, forest, 1, [0], [50])
    add(relation, forest, 2, [40], [90])
    add(relation, forest, 3, [42], [48])
    assert list(forest.above(3)) in ([1], [2])
    (parent,) = forest.above(3)
    relation.remove(parent)
    forest.remove(parent)
    # A plain move to the root would leave it beside one that covers it.
    assert list(forest.above(3)) == [3 - parent]
    forest.check_invariants()


def test_a_parent_need_not_be_an_immediate_coverer() -> None:
    relation, other = Boxes(1), Boxes(1)
    forest, poset = Forest(relation), Poset(other)
    aside, right, small, left, between = range(5)
    ends = {aside: (20, 21), right: (2, 10), small: (4, 5), left: (0, 8), between: (3, 7)}

    def add_to_both(handle: int) -> None:
        low, high = ends[handle]
        add(relation, forest, handle, [low], [high])
        add(other, poset, handle, [low], [high])

    for handle in (aside, right, small, left):
        add_to_both(handle)
    # The last root comes to the front, and so the next one goes below it.
    forest.remove(aside)
    poset.remove(aside)
    add_to_both(between)
    assert list(forest.above(between)) == [left]
    assert list(forest.above(small)) == [right]
    assert poset.above(small) == {between}
    forest.check_invariants()
