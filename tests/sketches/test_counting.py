"""Filters that can forget, against filters made anew."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.sketches import Bloom, CountingBloom, Hashes

texts = st.sampled_from([f"x = {number}" for number in range(20)])
steps = st.lists(st.tuples(st.booleans(), texts), max_size=60)


@given(steps, st.sampled_from((Hashes(8, 2), Hashes(9, 3), Hashes())))
def test_after_any_history_it_is_the_filter_of_what_is_left(history: list[tuple[bool, str]], hashes: Hashes) -> None:
    made = CountingBloom(hashes)
    held: Counter[str] = Counter()
    for wanted, text in history:
        if wanted:
            made.add(text)
            held[text] += 1
        elif held[text]:
            made.remove(text)
            held[text] -= 1
        assert made.bloom() == Bloom(hashes, +held)
    rebuilt = CountingBloom(hashes.resalted(5), held.elements())
    assert rebuilt.bloom() == Bloom(hashes.resalted(5), +held)


def test_more_removals_than_additions_are_an_error_that_changes_nothing() -> None:
    made = CountingBloom(Hashes(), ["a", "a", "b"])
    made.remove("a")
    made.remove("a")
    with pytest.raises(ValueError, match="'a' was not added as often"):
        made.remove("a")
    assert made.bloom() == Bloom(Hashes(), ["b"])


def test_a_refused_removal_takes_no_bit_that_is_shared() -> None:
    hashes = Hashes(bits=8, hashes=2)
    sharing = next(
        (a, b)
        for a in "abcdefghij"
        for b in "abcdefghij"
        if len({*hashes.places(a), *hashes.places(b)}) == 3  # one bit in common
    )
    made = CountingBloom(hashes, [sharing[0]])
    with pytest.raises(ValueError, match="was not added"):
        made.remove(sharing[1])
    made.remove(sharing[0])
    assert made.bloom() == Bloom(hashes)
