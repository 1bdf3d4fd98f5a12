"""Bloom filters in both forms, against sets of bits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.sketches import Bloom, Hashes, best_hashes, dense_bytes, false_positive_rate, sparse_bytes

texts = st.sets(st.text(max_size=4), max_size=30)
families = st.builds(Hashes, st.sampled_from((1, 8, 63, 64, 65, 100, 1 << 14)), st.just(1), st.integers(0, 3))


def bits_of(hashes: Hashes, some: set[str]) -> set[int]:
    return {place for text in some for place in hashes.places(text)}


@given(families, texts, texts)
def test_dense_and_sparse_are_the_same(hashes: Hashes, some: set[str], others: set[str]) -> None:
    a, b = Bloom(hashes, some), Bloom(hashes, others)
    one, two = bits_of(hashes, some), bits_of(hashes, others)
    assert a.places() == tuple(sorted(one))
    assert Bloom.of_places(hashes, a.places()) == a
    assert (a | b).places() == tuple(sorted(one | two))
    assert (a <= b) is (one <= two)
    assert (a == b) is (one == two)
    for text in some | others:
        assert (text in a) is set(hashes.places(text)).issubset(one)


@given(families, texts, texts)
def test_the_union_of_filters_is_the_filter_of_the_union(hashes: Hashes, some: set[str], others: set[str]) -> None:
    assert Bloom(hashes, some) | Bloom(hashes, others) == Bloom(hashes, some | others)


@given(texts)
def test_nothing_that_was_added_is_missed(some: set[str]) -> None:
    made = Bloom(Hashes(bits=8, hashes=2), some)
    assert all(text in made for text in some)


@pytest.mark.parametrize(("bits", "items", "hashes"), [(1 << 12, 1_000, 1), (1 << 12, 1_000, 3), (1 << 14, 1_000, 2)])
def test_false_positives_are_as_many_as_equation_5_1_says(bits: int, items: int, hashes: int) -> None:
    seen = 0
    for salt in range(5):
        made = Bloom(Hashes(bits, hashes, salt), (f"in {number}" for number in range(items)))
        seen += sum(f"out {number}" in made for number in range(2_000))
    expected = false_positive_rate(bits, items, hashes)
    assert seen / 10_000 == pytest.approx(expected, abs=4 * (expected / 10_000) ** 0.5 + expected / 10)


@pytest.mark.parametrize(("bits", "items"), [(1 << 14, 1_000), (1 << 14, 20_000), (100, 10), (8, 1)])
def test_no_other_number_of_hashes_is_better(bits: int, items: int) -> None:
    best = false_positive_rate(bits, items, best_hashes(bits, items))
    assert best == min(false_positive_rate(bits, items, hashes) for hashes in range(1, 30))


def test_an_empty_filter_needs_one_hash() -> None:
    assert best_hashes(100, 0) == 1
    assert false_positive_rate(100, 0, 1) == 0


def test_sizes() -> None:
    # specs/004 §9, E10: 200 bits at 16-bit numbers.
    assert sparse_bytes(1 << 14, 200) == 400
    assert dense_bytes(1 << 14) == 2_048
    assert (sparse_bytes(256, 3), sparse_bytes(257, 3), sparse_bytes(1, 3)) == (3, 6, 3)
    assert (dense_bytes(8), dense_bytes(9)) == (1, 2)


def test_a_bit_beyond_the_filter_is_refused() -> None:
    for place in (8, -1):
        with pytest.raises(ValueError, match=f"no bit {place} among 8"):
            Bloom.of_places(Hashes(bits=8), [place])


def test_filters_of_different_families_are_not_compared() -> None:
    a, b = Bloom(Hashes(salt=1)), Bloom(Hashes(salt=2))
    for compare in (lambda: a | b, lambda: a <= b, lambda: a == b):
        with pytest.raises(ValueError, match="different families"):
            compare()
    assert a != "a"


@given(families, texts)
def test_the_dense_form_is_read_as_it_was_written(hashes: Hashes, some: set[str]) -> None:
    made = Bloom(hashes, some)
    data = made.to_bytes()
    assert len(data) == dense_bytes(hashes.bits)
    assert Bloom.of_bytes(hashes, data) == made


@pytest.mark.parametrize(("bits", "data"), [(12, b"\x01"), (12, b"\x01\x10"), (8, b"\x01\x02"), (64, b"")])
def test_bytes_that_are_no_filter_are_refused(bits: int, data: bytes) -> None:
    with pytest.raises(ValueError, match=f"{len(data)} bytes are no filter of {bits} bits"):
        Bloom.of_bytes(Hashes(bits, 2), data)
