"""All structures over intervals give the same answers as testing every pair."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.lab.intervals import ElementTree, IntervalTree, PSTree, Scan, SegmentTree, Structure, answers, rounds
from tamis.lab.intervals.structure import Values

STRUCTURES: list[type[Structure]] = [Scan, IntervalTree, SegmentTree, PSTree, ElementTree]

_INT32 = np.iinfo(np.int32)
_INT64 = np.iinfo(np.int64)
#: By type: few values, so that ends meet, and the extremes.
POOLS: dict[str, list[Any]] = {
    "int32": [*range(-3, 20), 255, 256, 65_536, int(_INT32.min), int(_INT32.min) + 1, int(_INT32.max)],
    "int64": [*range(-3, 4), 2**40, 2**53, 2**53 + 1, int(_INT64.min), int(_INT64.max) - 1, int(_INT64.max)],
    "float64": [0.0, -0.0, 5e-324, -5e-324, 0.5, 1.0, -1.0, -1.5, 1e300, -1e300, float("inf"), float("-inf")],
}


@st.composite
def cases(draw: st.DrawFn) -> tuple[Values, Values, Values]:
    """Intervals and points of one type, the points also just beside the ends."""
    dtype = np.dtype(draw(st.sampled_from(list(POOLS))))
    values = st.sampled_from(POOLS[dtype.name])
    pairs = draw(st.lists(st.tuples(values, values), max_size=12))
    ends = np.sort(np.array(pairs, dtype).reshape(-1, 2), axis=1)
    pool = np.array(POOLS[dtype.name], dtype)
    if dtype.kind == "f":
        beside = [np.nextafter(pool, -np.inf), np.nextafter(pool, np.inf)]
    else:
        beside = [pool - dtype.type(1), pool + dtype.type(1)]
    return ends[:, 0].copy(), ends[:, 1].copy(), np.concatenate([pool, *beside])


def brute_force(low: Values, high: Values, points: Values) -> list[list[int]]:
    return [np.flatnonzero((low <= point) & (point <= high)).tolist() for point in points]


@pytest.mark.parametrize("structure", STRUCTURES)
@settings(deadline=None)
@given(case=cases())
def test_every_structure_finds_what_testing_every_pair_finds(
    structure: type[Structure], case: tuple[Values, Values, Values]
) -> None:
    low, high, points = case
    found = answers(structure.build(low, high), len(low), points)
    assert [sorted(each) for each in found] == brute_force(low, high, points)


@settings(deadline=None)
@given(case=cases())
def test_every_way_to_locate_leads_to_the_same_leaf(case: tuple[Values, Values, Values]) -> None:
    low, high, points = case
    expected = PSTree.build(low, high).locate(points).tolist()
    for other in (PSTree.numbered, ElementTree.build, ElementTree.numbered, SegmentTree.build):
        assert other(low, high).locate(points).tolist() == expected


@settings(deadline=None)
@given(case=cases())
def test_points_in_one_leaf_have_one_answer(case: tuple[Values, Values, Values]) -> None:
    low, high, points = case
    by_leaf: dict[int, list[int]] = {}
    located = ElementTree.numbered(low, high).locate(points).tolist()
    for leaf, answer in zip(located, brute_force(low, high, points), strict=True):
        assert by_leaf.setdefault(leaf, answer) == answer


def test_a_scan_locates_nothing_and_counts() -> None:
    low, high = np.array([1, 2, 5], np.int32), np.array([3, 2, 9], np.int32)
    assert Scan.build(low, high).locate(np.array([0, 2, 3, 9], np.int32)).tolist() == [0, 2, 1, 1]


def test_an_interval_tree_locates_the_last_node_on_the_way() -> None:
    low, high = np.array([0, 10, 20], np.int32), np.array([5, 15, 25], np.int32)
    tree = IntervalTree.build(low, high)
    reached = tree.locate(np.array([1, 10, 24, 99], np.int32))
    assert tree.centre[reached].tolist() == [0, 10, 20, 20]
    none = np.zeros(0, np.int32)
    assert IntervalTree.build(none, none).locate(low).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_more_answers_than_there_is_room_for_come_in_rounds(structure: type[Structure]) -> None:
    rng = np.random.default_rng(7)
    low, high = np.sort(rng.integers(0, 50, (2, 40), np.int32), axis=0)
    points = rng.integers(-5, 55, 60, np.int32)
    built = structure.build(low, high)
    ends, out = np.zeros(60, np.int64), np.zeros(45, np.int32)
    found: list[list[int]] = []
    done = [0]
    for first, reached in rounds(built, points, ends, out):
        found += [sorted(part.tolist()) for part in np.split(out[: ends[reached - 1]], ends[first : reached - 1])]
        done.append(reached)
    assert found == brute_force(low, high, points)
    assert done == sorted(set(done))
    assert len(done) > 3


def test_the_trees_are_balanced_whatever_the_order_of_the_intervals() -> None:
    low = np.arange(1000, dtype=np.int32) * 10
    tree = IntervalTree.build(low, low + 5)
    depth = np.zeros(len(tree.centre), np.int64)
    for node in range(len(depth)):
        for child in (tree.left[node], tree.right[node]):
            if child >= 0:
                depth[child] = depth[node] + 1
    assert depth.max() < 10
    assert sum(tree.end - tree.start) == 1000


def test_memory_counts_what_a_structure_adds() -> None:
    low = np.arange(100, dtype=np.int32)
    high = low + np.int32(50)
    assert Scan.build(low, high).bytes == 0
    assert PSTree.numbered(low, high).bytes < PSTree.build(low, high).bytes
    lists = PSTree.build(low, high).lists
    assert lists.offsets[-1] == len(lists.intervals) == sum(map(len, brute_force(low, high, np.arange(0, 150))))
