"""Conditions as a relation: detectors find whom the conditions cover."""

from hypothesis import given, settings
from hypothesis import strategies as st

from support.histories import crowded_conjunctions
from support.strategies import expressions
from tamis.covering.conditions import Conditions
from tamis.covering.containment import shape
from tamis.language import Expression, Or

either = st.lists(crowded_conjunctions(), min_size=2, max_size=3).map(lambda parts: Or(tuple(parts)))


@given(st.lists(crowded_conjunctions() | either | expressions(5), min_size=1, max_size=15), st.data())
@settings(max_examples=25)
def test_coverers_are_those_that_cover(some: list[Expression], data: st.DataObject) -> None:
    relation = Conditions("kdtree")
    shapes = dict(enumerate(each for each in map(shape, some) if each.form is not False))
    for handle, each in shapes.items():
        relation.add(handle, each)
    for handle in data.draw(st.sets(st.sampled_from(sorted(shapes) or [0]))) & shapes.keys():
        relation.remove(handle)
        del shapes[handle]
    relation.check_invariants()
    for handle in shapes:
        expected = {other for other in shapes if other != handle and relation.covers(other, handle)}
        assert set(relation.coverers(handle, 99)) == expected
        assert len(relation.coverers(handle, 2)) == min(2, len(expected))
    # Nobody covers one that covers it.
    for a in shapes:
        for b in shapes:
            assert a == b or not (relation.covers(a, b) and relation.covers(b, a))


def test_of_two_that_say_the_same_the_older_covers() -> None:
    relation = Conditions("scan")
    relation.add(7, shape("x = 1 or y = 1"))
    relation.add(3, shape("(x = 1 and y <> 1) or y = 1 or (x = 1 and y is null) or (x = 1 and y = 1)"))
    relation.add(5, shape("x = 1"))
    assert relation.covers(7, 3) or relation.covers(3, 7)
    assert relation.coverers(3, 9) in ([7], [])
    assert 3 not in relation.coverers(7, 9)
    assert 7 in relation.coverers(5, 9)


def test_a_detector_whose_last_condition_goes_is_let_go() -> None:
    relation = Conditions("kdtree")
    relation.add(0, shape("x = 1"))
    relation.add(1, shape("x = 1 and y = 1"))
    assert relation.coverers(1, 1) == [0]
    assert relation.groups == 2
    work = relation.touched
    assert work > 0
    relation.remove(0)
    assert relation.groups == 1
    assert relation.touched == work
    assert relation.coverers(1, 1) == []
