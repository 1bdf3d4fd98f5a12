from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.positions import as_runs, closed, positions, run_lists
from tamis.geometry.leaves import VALUE, WIDTH
from tamis.geometry.runset import RunSet


def inserted(lists: list[list[tuple[int, int]]], theta: int) -> RunSet:
    table = RunSet(theta)
    for each in lists:
        table.insert(*as_runs(each))
    table.check_invariants()
    return table


@given(st.lists(run_lists(), max_size=12), st.integers(1, 6))
def test_inserting_returns_what_became_covered(lists: list[list[tuple[int, int]]], theta: int) -> None:
    table = RunSet(theta)
    union: set[int] = set()
    for each in lists:
        before = closed(union, theta)
        union |= positions(each)
        after = closed(union, theta)
        subsumed = table.covers(*as_runs(each))
        starts, ends = table.insert(*as_runs(each))
        fresh = list(zip(starts.tolist(), ends.tolist(), strict=True))
        assert positions(fresh) == after - before
        assert (starts[1:] > ends[:-1] + 1).all()
        assert subsumed == (positions(each) <= before)
        assert positions(list(zip(*(side.tolist() for side in table.runs()), strict=True))) == after
        table.check_invariants()
    found = table.match_many(np.arange(130))
    assert set(np.flatnonzero(found).tolist()) == closed(union, theta)
    assert [table.match(point) for point in range(130)] == found.tolist()


@given(st.lists(run_lists(), max_size=8), st.integers(1, 6), st.randoms(use_true_random=False))
def test_the_order_of_insertion_does_not_matter(lists: list[list[tuple[int, int]]], theta: int, random: object) -> None:
    mixed = list(lists)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = inserted(lists, theta), inserted(mixed, theta)
    assert [side.tolist() for side in one.runs()] == [side.tolist() for side in other.runs()]


@given(st.lists(run_lists(), max_size=8), st.integers(1, 6))
def test_many_lists_are_inserted_as_if_one_by_one(lists: list[list[tuple[int, int]]], theta: int) -> None:
    one, other = RunSet(theta), RunSet(theta)
    expected = [[side.tolist() for side in one.insert(*as_runs(each))] for each in lists]
    offsets = np.cumsum([0, *map(len, lists)])
    marks, *sides = other.insert_many(offsets, *as_runs([run for each in lists for run in each]))
    assert [[side[first:last].tolist() for side in sides] for first, last in pairwise(marks)] == expected
    assert [side.tolist() for side in one.runs()] == [side.tolist() for side in other.runs()]


@given(st.lists(run_lists(), max_size=8), run_lists())
def test_cutting_takes_out_what_is_there(lists: list[list[tuple[int, int]]], gone: list[tuple[int, int]]) -> None:
    table = inserted(lists, 1)
    before = set().union(*map(positions, lists))
    starts, ends = table.cut(*as_runs(gone))
    table.check_invariants()
    assert positions(list(zip(starts.tolist(), ends.tolist(), strict=True))) == before & positions(gone)
    assert not any(side.size for side in table.cut(*as_runs(gone)))
    after = positions(list(zip(*(side.tolist() for side in table.runs()), strict=True)))
    assert after == before - positions(gone)


@given(st.lists(run_lists(), max_size=8), st.lists(run_lists(), max_size=8), st.integers(1, 4))
def test_many_lists_are_tested_at_once(
    lists: list[list[tuple[int, int]]], asked: list[list[tuple[int, int]]], theta: int
) -> None:
    table = inserted(lists, theta)
    offsets = np.cumsum([0, *map(len, asked)])
    found = table.covers_many(offsets, *as_runs([run for each in asked for run in each]))
    assert found.tolist() == [table.covers(*as_runs(each)) for each in asked]


def test_subsumed_without_being_covered_by_one() -> None:
    table = inserted([[(0, 5)], [(6, 9)]], 1)
    assert table.covers(*as_runs([(4, 7)]))
    assert len(table) == 1
    apart = inserted([[(0, 5)], [(7, 9)]], 1)
    assert not apart.covers(*as_runs([(4, 7)]))
    filled = RunSet(2)
    filled.insert(*as_runs([(0, 5)]))
    # The filler between the two is told too: who forwards only the new run loses the deliveries at 6.
    assert [side.tolist() for side in filled.insert(*as_runs([(7, 9)]))] == [[6], [9]]
    assert filled.match(6)


def test_the_ends_of_the_line() -> None:
    last = 2**63 - 1
    table = inserted([[(0, 0)], [(last - 1, last)]], 3)
    assert [table.match(point) for point in (0, 1, last - 2, last - 1, last)] == [True, False, False, True, True]
    assert [side.tolist() for side in table.insert(*as_runs([(0, last)]))] == [[1], [last - 2]]
    assert [side.tolist() for side in table.runs()] == [[0], [last]]
    assert not RunSet().match(0)


def test_many_leaves_come_and_go() -> None:
    rng = np.random.default_rng(7)
    table = RunSet()
    points = rng.permutation(40 * WIDTH) * 3
    for point in points.reshape(-1, 64):
        chosen = np.sort(point)
        table.insert(chosen, chosen + 1)
    table.check_invariants()
    assert len(table) == len(points)
    gone = np.sort(points[: 39 * WIDTH])
    table.cut(gone, gone + 1)
    table.check_invariants()
    assert sorted(table.runs()[0].tolist()) == sorted(points[39 * WIDTH :].tolist())
    starts, _ = table.insert(np.array([0]), np.array([120 * WIDTH]))
    assert len(starts) >= WIDTH
    assert len(table) == 1


def test_damage_is_found() -> None:
    table = inserted([[(0, 1), (3, 4)]], 1)
    table.leaves.cells[0, VALUE, 0] = 2
    with pytest.raises(AssertionError):
        table.check_invariants()
    with pytest.raises(ValueError, match="theta"):
        RunSet(0)
