from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.twins import passes_as_plain_python
from tamis.routing.keys import KeyTable, from_wire, key_of, to_wire

#: Few keys, many of which begin their search in the same slot, and the greatest.
KEYS = st.sampled_from([0, 1, 2, 3, 63, 64, 65, 127, 128, (1 << 32) - 1, (1 << 32) - 64])
PLACES = 4
STEPS = st.lists(st.tuples(st.booleans(), st.lists(KEYS, max_size=6), st.integers(0, PLACES - 1)), max_size=40)


def array(keys: list[int]) -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    return np.array(keys, np.uint32)


@given(steps=STEPS, asked=st.lists(KEYS, max_size=12), but=st.integers(-1, PLACES - 1))
def test_keys_are_found_wherever_they_lie(steps: list[tuple[bool, list[int], int]], asked: list[int], but: int) -> None:
    table = KeyTable()
    held: Counter[tuple[int, int]] = Counter()
    for comes, keys, place in steps:
        if comes:
            table.add(array(keys), place)
            held.update((key, place) for key in keys)
        else:
            there = [key for number, key in enumerate(keys) if keys[:number].count(key) < held[key, place]]
            table.remove(array(there), place)
            held.subtract((key, place) for key in there)
        held = +held
        table.check_invariants()
        assert table.entries() == held
        assert len(table) == len(held)
    found, ends = table.sorted_by_place(array(asked), PLACES, but)
    parts = np.split(found, ends)[:-1]
    expected = [[key for key in asked if (key, place) in held and place != but] for place in range(PLACES)]
    assert [part.tolist() for part in parts] == expected
    assert all((key in table) == any((key, place) in held for place in range(PLACES)) for key in asked)


def test_thousands_of_keys_are_found_again() -> None:
    numbers = np.random.default_rng(7).permutation(1 << 16)[:20_000].astype(np.uint32)
    table = KeyTable()
    for place, part in enumerate(np.split(numbers, 4)):
        table.add(part, place)
    table.remove(numbers[:5_000], 0)
    found, ends = table.sorted_by_place(numbers, 4, -1)
    assert ends.tolist() == [0, 5_000, 10_000, 15_000]
    assert (found == numbers[5_000:]).all()


def test_keys_have_32_bits_and_salts_change_them() -> None:
    keys = {key_of(text, salt) for text in ("price > 10", "price > 11", "Ä\ud800") for salt in range(4)}
    assert len(keys) == 12
    assert all(0 <= key < 1 << 32 for key in keys)
    assert key_of("price > 10") == key_of("price > 10")


def test_keys_travel_as_four_bytes_each_lowest_first() -> None:
    keys = array([1, 0x01020304])
    assert to_wire(keys) == b"\x01\0\0\0\x04\x03\x02\x01"
    assert from_wire(to_wire(keys)).tolist() == keys.tolist()
    with pytest.raises(ValueError, match="multiple"):
        from_wire(b"abc")


def test_plain_python_finds_the_same() -> None:
    passes_as_plain_python(Path(__file__), chosen="wherever or travel", examples=20)
