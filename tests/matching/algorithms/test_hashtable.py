import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.matching.algorithms.hashtable import EMPTY, HashTable, erase, pair, put, slot_of

LARGEST = 2**31 - 1
pairs = st.tuples(st.integers(0, 5), st.integers(0, 5)) | st.tuples(st.integers(0, LARGEST), st.integers(0, LARGEST))


def set_value(table: HashTable, key: int, value: int) -> None:
    table.reserve(1)
    slot = slot_of(key, table.table.keys)
    if table.table.keys[slot] == EMPTY:
        put(slot, key, value, table.table)
    else:
        table.table.values[slot] = value


def content(table: HashTable) -> dict[int, int]:
    keys, values, _ = table.table
    return {int(keys[slot]): int(values[slot]) for slot in np.flatnonzero(keys != EMPTY)}


@given(st.lists(st.tuples(st.booleans(), pairs, st.integers(0, LARGEST)), max_size=60))
def test_it_is_a_dictionary(steps: list[tuple[bool, tuple[int, int], int]]) -> None:
    table = HashTable(slots=2)
    oracle: dict[int, int] = {}
    for adding, (left, right), value in steps:
        key = int(pair(left, right))
        if adding:
            set_value(table, key, value)
            oracle[key] = value
        elif key in oracle:
            erase(slot_of(key, table.table.keys), table.table)
            del oracle[key]
        else:
            assert table.table.keys[slot_of(key, table.table.keys)] == EMPTY
        assert content(table) == oracle
        table.check_invariants()


def test_the_order_of_a_pair_does_not_matter() -> None:
    assert pair(3, LARGEST) == pair(LARGEST, 3) == (3 << 32) | LARGEST
    assert pair(LARGEST, LARGEST) > 0


def test_room_is_made_once_for_many() -> None:
    table = HashTable(slots=8)
    table.reserve(1_000)
    slots = len(table.table.keys)
    for number in range(1_000):
        set_value(table, int(pair(number, number + 1)), number)
    assert len(table.table.keys) == slots
    assert table.bytes == slots * 12
    table.check_invariants()


@pytest.mark.parametrize("stride", [1, 2, 64, 1024])
def test_grids_of_leaves_are_spread_evenly(stride: int) -> None:
    table = HashTable()
    for left in range(100):
        for right in range(100):
            set_value(table, int(pair(left * stride, 1_000_000 + right * stride)), 1)
    keys = table.table.keys
    runs = np.diff(np.flatnonzero(np.concatenate(([True], keys == EMPTY, [True])))) - 1
    assert len(content(table)) == 10_000
    assert (runs**2).sum() / len(keys) < 20, "mean steps to an empty slot"
