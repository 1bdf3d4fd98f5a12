"""Sketches of what is held: equal sets never look different, and different ones almost never equal (specs/000 §8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.healing.summary import MOST_BITS, MOST_HASHES, Summary
from tamis.routing.packets import Sketch

items = st.sets(st.text(max_size=5), max_size=30)
salts = st.integers(0, (1 << 64) - 1)


@given(items, items, salts)
def test_equal_sets_say_the_same_and_others_do_not(one: set[str], other: set[str], salt: int) -> None:
    ours = Summary.of(sorted(one), 4, 2, salt)
    assert Summary.read(ours.sketch()).says_the_same_as(ours)
    assert Summary(ours.hashes, sorted(one, reverse=True)).says_the_same_as(ours)
    assert Summary(ours.hashes, other).says_the_same_as(ours) == (one == other)


@given(items, items, salts)
def test_differences_that_it_shows_are_true_and_others_show_in_the_digest(
    one: set[str], other: set[str], salt: int
) -> None:
    ours = Summary.of(sorted(one), 4, 2, salt)
    theirs = Summary(ours.hashes, other)
    gone, come = set(ours.lacks(other)), set(theirs.lacks(one))
    assert gone <= other - one
    assert come <= one - other
    complete = gone == other - one and come == one - other
    assert (theirs.becomes(gone, come) == ours.digest) == complete


def test_a_difference_that_bits_hide_is_found_by_the_next_salt() -> None:
    one = [f"x = {number}" for number in range(16)]
    other = one[1:]
    hidden = [salt for salt in range(200) if not Summary(Summary.of(one, 4, 2, salt).hashes, other).lacks(one)]
    assert 0 < len(hidden) < 100  # at 4 bits an item some 15 in 100
    assert len(set(hidden) & {salt + 1 for salt in hidden}) < len(hidden)


@pytest.mark.parametrize(
    "sketch",
    [
        Sketch(0, 2, 64, bytes(7), 0),
        Sketch(0, 2, 60, b"\xff" * 8, 0),
        Sketch(0, 2, 0, b"", 0),
        Sketch(0, 0, 64, bytes(8), 0),
        Sketch(-1, 2, 64, bytes(8), 0),
        Sketch(0, 2, MOST_BITS + 1, bytes(8), 0),
        Sketch(0, MOST_HASHES + 1, 64, bytes(8), 0),
    ],
)
def test_what_is_no_sketch_is_refused(sketch: Sketch) -> None:
    with pytest.raises(ValueError, match=r"bit|bytes|hash|salt"):
        Summary.read(sketch)
