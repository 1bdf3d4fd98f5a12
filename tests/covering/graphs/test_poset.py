"""The POSET is the Hasse diagram of covering (specs/000 §5)."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.boxes import Sides, boxes, contains, corners
from tamis.covering.boxes import Boxes
from tamis.covering.graphs.poset import Poset


def diagram(held: dict[int, Sides]) -> set[tuple[int, int]]:
    """All pairs of which one covers the other with nobody between."""
    above = {(a, b) for a, b in product(held, repeat=2) if a != b and contains(held[a], held[b])}
    return {(a, b) for a, b in above if not any((a, c) in above and (c, b) in above for c in held)}


@given(st.lists(boxes(2), min_size=1, max_size=25, unique=True), st.data())
@settings(max_examples=40)
def test_edges_are_those_of_the_hasse_diagram(new: list[Sides], data: st.DataObject) -> None:
    relation = Boxes(2)
    poset = Poset(relation)
    held: dict[int, Sides] = {}
    for handle, sides in enumerate(new):
        held[handle] = sides
        relation.add(handle, *corners(sides))
        poset.add(handle)
        assert poset.edges() == diagram(held)
    for handle in data.draw(st.permutations(range(len(new)))):
        del held[handle]
        relation.remove(handle)
        poset.remove(handle)
        assert poset.edges() == diagram(held)


@pytest.mark.parametrize("sides", [1, 30])
def test_a_subscription_is_compared_with_all_successors_at_once(sides: int) -> None:
    relation = Boxes(1)
    poset = Poset(relation)
    relation.add(0, np.array([0]), np.array([1_000]))
    poset.add(0)
    for handle in range(1, sides + 1):
        relation.add(handle, np.array([10 * handle]), np.array([10 * handle + 5]))
        poset.add(handle)
    before = relation.compared
    relation.add(99, np.array([10]), np.array([12]))
    poset.add(99)
    assert poset.above(99) == {1}
    # The root, its successors, and the single child that is found.
    assert relation.compared - before == 1 + sides
