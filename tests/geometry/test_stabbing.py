import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.positions import as_runs, positions, run_lists
from tamis.geometry.leaves import VALUE
from tamis.geometry.stabbing import Stabbing

owned = st.dictionaries(st.integers(0, 40), run_lists(), max_size=15)


def filled(runs: dict[int, list[tuple[int, int]]], at_once: bool) -> Stabbing:
    index = Stabbing()
    if at_once:
        owners = np.repeat(np.array(list(runs), np.int64), [len(each) for each in runs.values()])
        index.add_many(owners, *as_runs([run for each in runs.values() for run in each]))
    else:
        for owner, each in runs.items():
            index.add(owner, *as_runs(each))
    index.check_invariants()
    return index


@given(owned, owned, run_lists(), st.booleans())
def test_stabs_and_overlaps(
    runs: dict[int, list[tuple[int, int]]],
    late: dict[int, list[tuple[int, int]]],
    asked: list[tuple[int, int]],
    at_once: bool,
) -> None:
    index = filled(runs, at_once)
    late = {owner: each for owner, each in late.items() if owner not in runs}
    for owner, each in late.items():
        index.add(owner, *as_runs(each))
    live = {**runs, **late}
    for owner in list(runs)[::2]:
        index.remove(owner, as_runs(live.pop(owner))[0])
    index.check_invariants()
    for point in range(0, 125, 3):
        expected = sorted(owner for owner, each in live.items() if point in positions(each))
        assert sorted(index.stab(point).tolist()) == expected
    expected = sorted(owner for owner, each in live.items() if positions(each) & positions(asked))
    assert index.overlap(*as_runs(asked)).tolist() == expected


def test_many_owners_at_one_place_and_wide_runs() -> None:
    rng = np.random.default_rng(7)
    low = np.where(rng.random(30_000) < 0.3, 500, rng.integers(0, 10**6, 30_000))
    high = low + np.where(rng.random(30_000) < 0.001, 10**6, rng.integers(0, 50, 30_000))
    index = Stabbing()
    index.add_many(np.arange(20_000), low[:20_000], high[:20_000])
    index.add_many(np.arange(20_000, 30_000), low[20_000:], high[20_000:])
    index.check_invariants()
    gone = rng.permutation(30_000)[:25_000]
    for owner in gone.tolist():
        index.remove(owner, low[owner : owner + 1])
    index.check_invariants()
    live = np.ones(30_000, np.bool_)
    live[gone] = False
    for point in (0, 499, 500, 520, 400_000, 999_999, 1_999_999):
        expected = np.flatnonzero(live & (low <= point) & (point <= high))
        assert sorted(index.stab(point).tolist()) == expected.tolist()
        expected = np.flatnonzero(live & (low <= point + 1000) & (point <= high))
        assert index.overlap(np.array([point]), np.array([point + 1000])).tolist() == expected.tolist()


def test_a_run_that_is_not_there() -> None:
    index = filled({1: [(3, 4), (8, 9)]}, True)
    with pytest.raises(KeyError, match="owner 1 has no run that starts at 5"):
        index.remove(1, np.array([3, 5]))
    assert len(index) == 2
    with pytest.raises(KeyError):
        index.remove(2, np.array([3]))


def test_damage_is_found() -> None:
    index = filled({1: [(3, 4), (8, 9)]}, True)
    index.leaves.cells[0, VALUE, 0] = 8
    with pytest.raises(AssertionError):
        index.check_invariants()
