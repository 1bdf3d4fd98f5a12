"""Boxes as a relation: compiled comparisons say what the plain ones say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from support.boxes import Sides, boxes, contains, corners
from tamis.covering.boxes import Boxes
from tamis.covering.graphs import Relation


@given(st.integers(0, 3).flatmap(lambda d: st.lists(boxes(d), min_size=1, max_size=12, unique=True)), st.data())
def test_comparisons(new: list[Sides], data: st.DataObject) -> None:
    relation = Boxes(len(new[0]), "kdtree")
    for handle, sides in enumerate(new):
        relation.add(handle, *corners(sides))
    chosen = data.draw(st.integers(0, len(new) - 1))
    others = np.array([each for each in range(len(new)) if each != chosen], np.int64)
    above = [each for each in others.tolist() if contains(new[each], new[chosen])]
    below = [each for each in others.tolist() if contains(new[chosen], new[each])]
    assert relation.covering(others, chosen) == Relation.covering(relation, others, chosen) == above
    assert relation.covered(others, chosen) == Relation.covered(relation, others, chosen) == below
    assert relation.placed(others, chosen) == Relation.placed(relation, others, chosen)
    assert relation.placed(others, chosen) == ((above[0], []) if above else (-1, below))
    assert sorted(relation.coverers(chosen, 99)) == above
    assert relation.compared == 7 * len(others)
