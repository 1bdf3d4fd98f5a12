import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.curves import z_key
from tamis.covering.detectors.sfcarray import WORD_BITS, SfcArray, interleave


def key_of(cells: tuple[int, ...], bits: int) -> np.ndarray:
    key = np.empty(SfcArray(bits * len(cells)).words, np.int64)
    interleave(np.array(cells, np.int64), bits, key)
    return key


def test_the_key_of_the_thesis() -> None:
    assert key_of((0b010, 0b011), 3).tolist() == [0b001101 << (WORD_BITS - 6)]


#: Dimensions and bits: keys that are short, that just fill a word, and that need two and three words.
@pytest.mark.parametrize(("dimensions", "bits"), [(2, 2), (3, 3), (9, 7), (12, 10), (13, 12)])
@settings(max_examples=40)
@given(data=st.data())
def test_churn_against_sorted_numbers(dimensions: int, bits: int, data: st.DataObject) -> None:
    some = st.tuples(*[st.integers(0, (1 << bits) - 1)] * dimensions)
    # Few different cells, so that keys are equal and begin alike.
    places = data.draw(st.lists(some, min_size=1, max_size=8))
    first = data.draw(st.lists(st.sampled_from(places), max_size=10))
    array = SfcArray(dimensions * bits)
    array.fill(
        np.array([key_of(each, bits) for each in first], np.int64).reshape(-1, array.words), np.arange(len(first))
    )
    held = dict(enumerate(first))
    for step in data.draw(st.lists(st.sampled_from(places) | st.none(), max_size=20)):
        if step is not None:
            owner = 100 + len(held) + max(held, default=0)
            array.merge(key_of(step, bits).reshape(1, -1), np.array([owner]))
            held[owner] = step
        elif held:
            owner = data.draw(st.sampled_from(sorted(held)))
            array.delete(key_of(held.pop(owner), bits), owner)
        array.check_invariants()
        assert sorted(array.held().tolist()) == sorted(held)
    new = dict(enumerate(data.draw(st.lists(st.sampled_from(places), max_size=5)), start=10_000))
    array.merge(
        np.array([key_of(each, bits) for each in new.values()], np.int64).reshape(-1, array.words),
        np.array(list(new), np.int64),
    )
    held |= new
    numbers = {owner: z_key(cells, bits) for owner, cells in held.items()}
    assert [numbers[owner] for owner in array.held().tolist()] == sorted(numbers.values())
    assert len(array) == len(held)
    last = (1 << dimensions * bits) - 1
    ends = st.sampled_from([0, last, *numbers.values()]) | st.integers(0, last)
    low, high = sorted((data.draw(ends), data.draw(ends)))
    begin, end = array.between(low, high)
    assert set(array.owners[begin:end].tolist()) == {each for each, key in numbers.items() if low <= key <= high}
