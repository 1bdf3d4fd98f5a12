"""Where texts set bits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.sketches import Hashes


@given(st.text(), st.integers(0, 14), st.integers(1, 8), st.integers(0, 2**64 - 1))
def test_for_a_power_of_two_all_bits_of_a_text_differ(text: str, power: int, hashes: int, salt: int) -> None:
    bits = 1 << power
    places = Hashes(bits, min(hashes, bits), salt).places(text)
    assert list(places) == sorted(set(places))
    assert len(places) == min(hashes, bits)
    assert all(0 <= place < bits for place in places)


@given(st.text(), st.integers(2, 5_000), st.integers(1, 8))
def test_for_other_numbers_some_may_coincide(text: str, bits: int, hashes: int) -> None:
    places = Hashes(bits, min(hashes, bits)).places(text)
    assert list(places) == sorted(set(places))
    assert 1 <= len(places) <= hashes
    assert all(0 <= place < bits for place in places)


def test_the_bits_of_a_text_never_change() -> None:
    """Brokers of different versions must agree, and so must processes."""
    assert Hashes().places("price > 10") == (2391, 13482)
    assert Hashes(salt=1).places("price > 10") == (2039, 12066)


def test_bits_are_chosen_evenly() -> None:
    hashes = Hashes(bits=64, hashes=2)
    counts = [0] * 64
    for number in range(6_400):
        for place in hashes.places(f"x = {number}"):
            counts[place] += 1
    # Binomial with mean 200 and deviation 14.
    assert all(130 < count < 270 for count in counts)


def test_another_salt_is_another_family() -> None:
    hashes = Hashes(bits=1 << 10)
    assert hashes.resalted(0) == hashes
    moved = sum(hashes.places(f"x = {n}") != hashes.resalted(1).places(f"x = {n}") for n in range(100))
    assert moved > 95


def test_a_lone_surrogate_is_a_text_too() -> None:
    assert Hashes().places("x = '\ud800'") != Hashes().places("x = '\ud801'")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"bits": 0}, "at least one bit, not 0"),
        ({"bits": 4, "hashes": 5}, "1 to 4 hash functions for 4 bits, not 5"),
        ({"hashes": 0}, "hash functions for 16384 bits, not 0"),
        ({"salt": -1}, "a number of 64 bits, not -1"),
    ],
)
def test_what_is_no_family(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hashes(**wrong)
