import numpy as np

import tamis
from tamis.matching.algorithms.betree import BETree
from tamis.matching.algorithms.clusters import Clusters
from tamis.matching.algorithms.division import ATTRIBUTE, LEFT, MIDDLE, RIGHT, ROOT


def tree_of(*texts: str, capacity: int = 1) -> tuple[BETree, Clusters]:
    engine = BETree(capacity)
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    engine.check_invariants()
    return engine, engine.clusters


def leaves(clusters: Clusters, cluster: int = ROOT) -> dict[int, list[int]]:
    """Return the leaves below a cluster that are not empty."""
    below = clusters.doors[cluster][1::2].tolist()
    if clusters.fields[cluster, MIDDLE] >= 0:
        below += clusters.fields[cluster, LEFT : RIGHT + 1].tolist()
    own = clusters.leaves[cluster].tolist()
    found = {cluster: own} if own else {}
    for each in below:
        found |= leaves(clusters, each)
    return found


def alone(clusters: Clusters) -> bool:
    """Return whether nothing is left but the root."""
    return bool((clusters.fields == -1).all() and not clusters.doors.size.any())


def test_every_subscription_is_reached_once() -> None:
    texts = [f"a > {number % 7} and b = {number % 5} and c = {number}" for number in range(60)]
    for capacity in (1, 4, 20, 60):
        _, clusters = tree_of(*texts, capacity=capacity)
        found = leaves(clusters)
        assert sorted(position for each in found.values() for position in each) == list(range(60))
        assert all(len(each) <= capacity for each in found.values())
        assert (len(found) == 1) == (capacity == 60)


def test_a_leaf_that_cannot_be_divided_is_larger() -> None:
    _, clusters = tree_of(*["a = 1 and b = 2"] * 9, "a = 1 and b = 3")
    assert sorted(map(len, leaves(clusters).values())) == [1, 9]


def test_what_lies_across_all_cuts_cannot_be_divided() -> None:
    _, clusters = tree_of(*(f"a between {-number} and {number}" for number in range(1, 9)))
    assert max(map(len, leaves(clusters).values())) > 1


def test_values_are_halved_until_each_has_a_cluster() -> None:
    _, clusters = tree_of(*(f"a = {number}" for number in range(16)))
    assert sorted(leaves(clusters).values()) == [[number] for number in range(16)]


def test_what_lies_across_the_cut_stays() -> None:
    _, clusters = tree_of("a = 1", "a = 2", "a between 0 and 9", "a = 8", "a = 9")
    (door,) = clusters.doors[ROOT][1::2].tolist()
    assert clusters.leaves[door].tolist() == [2]
    assert leaves(clusters)[door] == [2]


def test_the_rare_attribute_gets_the_door() -> None:
    engine, clusters = tree_of("common = 1 and rare = 1", "common = 1", "common = 1 and rare = 2", "common = 1")
    doors = clusters.doors[ROOT][::2].tolist()
    assert len(doors) == 2
    behind = {int(clusters.fields[cluster, ATTRIBUTE]) for cluster in leaves(clusters)}
    assert behind == set(doors)
    assert sorted(engine.match({"common": 1, "rare": 2})) == [1, 2, 3]


def test_an_empty_tree_has_no_clusters() -> None:
    engine, clusters = tree_of(*(f"a = {number} and b > {number % 3}" for number in range(40)), "a > 5", "a > 5")
    assert not alone(clusters)
    for position in np.random.default_rng(7).permutation(42).tolist():
        engine.remove(position)
        engine.check_invariants()
    assert alone(clusters)
    size = len(clusters.fields)
    for position in range(42):
        engine.add(position, tamis.parse(f"c = {position}"))
    assert engine.match({"c": 41}) == [41]
    assert len(clusters.fields) == size


def test_a_cut_outlives_the_predicate_that_it_was_made_at() -> None:
    engine, clusters = tree_of(*(f"a = {number}" for number in range(8)), "a > 100", "a < -100")
    for position in range(1, 8):
        engine.remove(position)
        engine.check_invariants()
        assert engine.match({"a": 0}) == [0]
        assert engine.match({"a": position}) == []
        assert engine.match({"a": 101}) == [8]
        assert engine.match({"a": -101}) == [9]
    for position in range(1, 8):
        engine.add(position, tamis.parse(f"a between {position} and {position}.5"))
        assert engine.match({"a": position}) == [position]
    engine.check_invariants()
    assert sorted(position for each in leaves(clusters).values() for position in each) == list(range(10))


def test_an_attribute_that_comes_back_as_another() -> None:
    engine, _ = tree_of("a = 1", "a = 2", "a = 3", "b = 1")
    for position in range(3):
        engine.remove(position)
    for position in range(3):
        engine.add(position, tamis.parse(f"c between {position} and {position + 3} and d = 1"))
        engine.check_invariants()
    assert sorted(engine.match({"c": 2, "d": 1})) == [0, 1, 2]
    assert engine.match({"a": 1, "b": 1}) == [3]


def test_equal_histories_give_equal_trees() -> None:
    texts = [f"a > {number % 7} and b = {number % 5} and c < {number}" for number in range(60)]
    left, right = (tree_of(*texts)[1] for _ in range(2))
    assert (left.fields == right.fields).all()
    assert leaves(left) == leaves(right)
