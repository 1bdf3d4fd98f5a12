import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.matching.algorithms import pairs
from tamis.matching.algorithms.pairs import Pairs
from tamis.matching.ranks.line import Merge, Split
from tamis.matching.ranks.lists import Ints

#: Left leaves are 0 to 7, right leaves 8 to 15; leaf x + 16 is a copy of leaf x.
lefts = st.lists(st.integers(0, 7), min_size=1, max_size=4, unique=True)
rights = st.lists(st.integers(8, 15), min_size=1, max_size=4, unique=True)
UNLIMITED = 1 << 30


def leaves(*numbers: int) -> Ints:
    return np.array(numbers, np.int32)


def sets(content: dict[tuple[int, int], list[int]]) -> dict[tuple[int, int], set[int]]:
    return {key: set(positions) for key, positions in content.items()}


@given(st.lists(st.tuples(st.integers(0, 6), lefts, rights), max_size=30))
def test_positions_are_under_all_their_pairs(steps: list[tuple[int, list[int], list[int]]]) -> None:
    held: dict[int, tuple[list[int], list[int]]] = {}
    store = Pairs(slots=2)
    for position, left, right in steps:
        if position in held:
            store.remove(position, *(leaves(*each) for each in held.pop(position)))
        else:
            store.add(position, leaves(*left), leaves(*right))
            held[position] = left, right
        expected: dict[tuple[int, int], set[int]] = {}
        for each, (ones, others) in held.items():
            for key in ((one, other) for one in ones for other in others):
                expected.setdefault(key, set()).add(each)
        assert sets(store.content()) == expected
        store.check_invariants()


@given(st.lists(st.tuples(lefts, rights), max_size=12), st.integers(0, 15))
def test_a_split_copies_and_a_merge_drops(stored: list[tuple[list[int], list[int]]], leaf: int) -> None:
    store = Pairs(slots=2)
    for position, (left, right) in enumerate(stored):
        store.add(position, leaves(*left), leaves(*right))
    before = sets(store.content())
    assert store.split(Split(leaf, leaf + 16), UNLIMITED) == []
    store.check_invariants()
    copied = {}
    for key, positions in before.items():
        if leaf in key:
            (partner,) = set(key) - {leaf}
            copied[partner, leaf + 16] = positions
    assert sets(store.content()) == before | copied
    store.merge(Merge(leaf, leaf + 16))
    store.check_invariants()
    assert sets(store.content()) == before


def test_a_split_tells_who_has_too_many_pairs() -> None:
    store = Pairs(slots=2)
    store.add(0, leaves(0, 1), leaves(8, 9))
    store.add(1, leaves(1, 2), leaves(8))
    assert store.split(Split(0, 16), 5) == [0]
    assert store.split(Split(1, 17), 5) == []
    assert store.counts[:2].tolist() == [8, 3]


def test_links_are_used_again() -> None:
    store = Pairs(slots=2)
    store.add(0, leaves(0, 1), leaves(8, 9))
    taken = store.bytes
    for position in range(1, 200):
        store.add(position, leaves(0, 1), leaves(8, 9))
        store.remove(position, leaves(0, 1), leaves(8, 9))
    store.check_invariants()
    assert store.bytes <= 2 * taken + 4 * 200


def test_many_new_keys_at_once_reach_the_reverse_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_FEW", 1)
    store = Pairs(slots=2)
    store.add(3, leaves(0, 1, 2), leaves(8, 9))
    store.check_invariants()
    store.merge(Merge(0, 1))
    store.check_invariants()
    assert sets(store.content()) == {(0, 8): {3}, (0, 9): {3}, (2, 8): {3}, (2, 9): {3}}
