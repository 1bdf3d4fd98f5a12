import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.matching.algorithms.boxtree import BUCKET, LEAST_MEMBERS, MOST_DIMENSIONS, Trees, plant
from tamis.matching.ranks.lists import Lists
from tamis.matching.ranks.space import Space


def planted(texts: list[str]) -> Trees:
    """Attributes get the dimensions 0, 1, … in the order in which they occur."""
    space, held = Space(), Lists()
    for position, predicates in enumerate(space.acquire(map(tamis.parse, texts))[0]):
        assert predicates is not None
        held.assign(position, predicates)
    trees = plant(space, held.view(), np.arange(len(texts), dtype=np.int32))
    trees.check_invariants()
    return trees


def trees_of(trees: Trees) -> list[tuple[list[int], list[int]]]:
    """Return the dimensions and the positions of each tree."""
    return [
        (
            trees.dimensions[trees.first_dimension[tree] : trees.first_dimension[tree + 1]].tolist(),
            sorted(trees.positions[trees.first_slot[tree] : trees.first_slot[tree + 1]].tolist()),
        )
        for tree in range(len(trees.first_slot) - 1)
    ]


def test_nothing_makes_no_tree() -> None:
    assert trees_of(planted([])) == []


def test_a_set_of_attributes_that_many_have_gets_a_tree() -> None:
    pairs = [f"a < {number} and b > {number}" for number in range(LEAST_MEMBERS)]
    others = [f"c > {number} and a = 3" for number in range(LEAST_MEMBERS)]
    found = trees_of(planted(pairs + others))
    assert sorted(found) == [([0, 1], list(range(16))), ([0, 2], list(range(16, 32)))]


def test_subscriptions_with_a_rare_set_get_together_by_their_most_selective_predicate() -> None:
    texts = ["a > 1 and b = 2", "b = 5 and c > 2", "c = 4 and d <> 1"]
    assert sorted(trees_of(planted(texts))) == [([1], [0, 1]), ([2], [2])]


def test_a_predicate_that_takes_null_is_no_side_of_a_box() -> None:
    texts = [f"a is null and b > {number}" for number in range(LEAST_MEMBERS)]
    trees = planted(texts)
    assert [dimensions for dimensions, _ in trees_of(trees)] == [[1]]
    assert not trees.whole.any()


def test_a_tree_has_the_attributes_that_most_subscriptions_constrain() -> None:
    many = " and ".join(f"a{number} > 0" for number in range(MOST_DIMENSIONS + 3))
    texts = [many] * LEAST_MEMBERS + ["a10 = 1", "a9 = 1", "a8 = 1"]
    found = trees_of(planted(texts))
    assert ([0, 1, 2, 3, 4, 8, 9, 10], list(range(LEAST_MEMBERS))) in found


def test_a_box_is_whole_if_nothing_else_is_asked_for() -> None:
    texts = ["a between 1 and 3", "a in (1, 3)", "a <> 2", "a > 1 and b > 1", "a > 1 and b is null"]
    trees = planted(texts)
    assert {position for position, whole in zip(trees.positions.tolist(), trees.whole, strict=True) if whole} == {0}


def test_equal_boxes_stay_in_one_bucket() -> None:
    trees = planted(["a > 1 and b > 2"] * (10 * BUCKET))
    assert trees.first_node.tolist() == [0, 1]


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), min_size=40, max_size=90
    )
)
def test_buckets_are_small_and_every_box_is_in_one(sides: list[tuple[int, int, int, int]]) -> None:
    sides = [(a, a + b, c, c + d) for a, b, c, d in sides]
    trees = planted([f"a between {a} and {b} and b between {c} and {d}" for a, b, c, d in sides])
    assert trees_of(trees) == [([0, 1], list(range(len(sides))))]
    boxes = trees.boxes.reshape(-1, 4)
    seen = []
    for node in np.flatnonzero(trees.skip == np.arange(len(trees.skip)) + 1):
        slots = range(trees.begin[node], trees.end[node])
        seen += list(slots)
        assert len(slots) <= BUCKET or len({tuple(boxes[slot]) for slot in slots}) == 1
    assert seen == list(range(len(sides)))


@pytest.mark.parametrize("damaged", ["hulls", "skip", "end"])
def test_damage_is_found(damaged: str) -> None:
    trees = planted([f"a between {number} and {number + 2}" for number in range(4 * BUCKET)])
    getattr(trees, damaged)[1] += 1
    with pytest.raises(AssertionError):
        trees.check_invariants()
