import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.geometry.leaves import FIRST, KEY, ORDER, SIZE, TIE, TOP, VALUE, WIDTH, Leaves, drop, has_room, locate, put

steps = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), st.integers(0, 99), st.booleans()), max_size=60)


def written(leaves: Leaves) -> dict[tuple[int, int], int]:
    keys, values, ties = (each.tolist() for each in leaves.entries())
    return dict(zip(zip(keys, ties, strict=True), values, strict=True))


@given(steps, st.booleans(), st.integers(0, 3 * WIDTH))
def test_entries_come_and_go(steps: list[tuple[int, int, int, bool]], ties: bool, at_once: int) -> None:
    leaves = Leaves(ties)
    oracle = {(1000 + number, 0): number % 7 for number in range(at_once)}
    keys = np.array([key for key, _ in oracle], np.int64)
    leaves.fill(keys[::-1], np.array(list(oracle.values()), np.int64)[::-1], np.zeros_like(keys))
    for key, tie, value, leave in steps:
        tie = tie if ties else 0
        if leave and (key, tie) in oracle:
            drop(leaves.cells, leaves.directory, *locate(leaves.cells, leaves.directory, key, tie))
            del oracle[key, tie]
        else:
            if not has_room(leaves.directory):
                leaves.grow()
            put(leaves.cells, leaves.directory, key, tie, value)
            oracle[key, tie] = value
        leaves.check_invariants()
    assert written(leaves) == oracle
    assert len(leaves) == len(oracle)


@pytest.mark.parametrize("ties", [False, True])
def test_leaves_split_and_join(ties: bool) -> None:
    rng = np.random.default_rng(7)
    leaves = Leaves(ties)
    pairs = [(key, tie) for key in range(20 * WIDTH // (5 if ties else 1)) for tie in range(5 if ties else 1)]
    order = [pairs[place] for place in rng.permutation(len(pairs)).tolist()]
    for number, (key, tie) in enumerate(order):
        while not has_room(leaves.directory):
            leaves.grow()
        put(leaves.cells, leaves.directory, key, tie, number)
    leaves.check_invariants()
    assert written(leaves) == {pair: number for number, pair in enumerate(order)}
    most = leaves.bytes
    for pair in order[: 19 * WIDTH]:
        drop(leaves.cells, leaves.directory, *locate(leaves.cells, leaves.directory, *pair))
    leaves.check_invariants()
    assert list(written(leaves)) == sorted(order[19 * WIDTH :])
    # What was given back is used again.
    for key, tie in order[: 19 * WIDTH]:
        put(leaves.cells, leaves.directory, key, tie, 0)
    assert leaves.bytes == most


@pytest.mark.parametrize("row", [ORDER, FIRST, SIZE, TOP])
def test_damage_is_found(row: int) -> None:
    leaves = Leaves(ties=True)
    for key in range(3):
        put(leaves.cells, leaves.directory, key, 0, key)
    leaves.check_invariants()
    leaves.directory[row, 0] += 1
    with pytest.raises(AssertionError):
        leaves.check_invariants()


def test_columns() -> None:
    leaves = Leaves(ties=True)
    put(leaves.cells, leaves.directory, 5, 6, 7)
    assert leaves.cells[0, [KEY, VALUE, TIE], 0].tolist() == [5, 7, 6]
