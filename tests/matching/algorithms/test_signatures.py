from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.matching.algorithms.signatures import FULL, Signatures, sift
from tamis.matching.ranks import verification
from tamis.matching.ranks.kernels import Predicates
from tamis.matching.ranks.lists import Lists, View

LEAVES = np.arange(4, dtype=np.int32)
NOTHING = np.zeros(0, np.int64)


def may_hold(signatures: Signatures, leaf: int, position: int) -> bool:
    """Sift one candidate that has one test, on dimension 0."""
    written = Lists()
    written.assign(position, [0, 1, 0, 0])
    predicates = Predicates(LEAVES, LEAVES, View(NOTHING, LEAVES, LEAVES))
    tests = verification.Tests(written.view(), NOTHING, predicates)
    here, ranks, out = (np.array([each], np.int32) for each in (leaf, 1, position))
    return sift(here, ranks, signatures.view(), tests, out, 0, 1) == 1


@given(
    st.integers(1, 9),
    st.integers(1, 4),
    st.sampled_from(("bloom", "exact")),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40)), max_size=60),
)
def test_there_are_no_false_negatives(
    m: int, k: int, kind: Literal["bloom", "exact"], steps: list[tuple[int, int]]
) -> None:
    signatures = Signatures(m, k, kind)
    oracle: dict[int, set[int]] = {leaf: set() for leaf in range(4)}
    for leaf, position in steps:
        if position in oracle[leaf]:
            signatures.remove(LEAVES[leaf : leaf + 1], position)
            oracle[leaf].remove(position)
        else:
            signatures.add(LEAVES[leaf : leaf + 1], position)
            oracle[leaf].add(position)
        for each, positions in oracle.items():
            signatures.check(each, sorted(positions))
            assert all(may_hold(signatures, each, position) for position in positions)
    if kind == "exact":
        assert not any(may_hold(signatures, leaf, 41) for leaf in range(4))


def test_a_full_counter_is_never_decremented() -> None:
    signatures = Signatures(1, 1)
    for position in range(FULL + 45):
        signatures.add(LEAVES[:1], position)
    for position in range(FULL + 44):
        signatures.remove(LEAVES[:1], position)
    assert may_hold(signatures, 0, FULL + 44)
    signatures.check(0, [FULL + 44])


def test_a_copy_is_a_signature_of_its_own() -> None:
    signatures = Signatures(16, 2)
    signatures.add(LEAVES[:1], 7)
    signatures.copy(0, 3)
    signatures.remove(LEAVES[:1], 7)
    signatures.check(0, [])
    signatures.check(3, [7])
    signatures.clear(3)
    signatures.check(3, [])


def test_an_empty_signature_empties_the_copy() -> None:
    signatures = Signatures(16, 2)
    signatures.add(LEAVES[3:], 7)
    signatures.copy(0, 3)
    signatures.check(3, [])


@pytest.mark.parametrize(("m", "k"), [(0, 1), (1, 0)])
def test_a_signature_needs_a_counter_and_a_hash(m: int, k: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        Signatures(m, k)
