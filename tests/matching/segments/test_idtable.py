import numpy as np
import pytest

from tamis.matching.segments.idtable import enter_numbers, enter_texts, hash_number, hash_text, missing_rows, slots_for


def text_hash(text: str) -> int:
    data = np.frombuffer(text.encode(), np.uint8)
    return int(hash_text(data, 0, len(data)))


def test_hashes_stay_as_they_are() -> None:
    # Tables are stored: another hash is another format.
    assert [text_hash(each) for each in ("", "a", "é")] == [
        8188597362357174272,
        8645785522518478989,
        2512023731892394314,
    ]
    assert [int(hash_number(each)) for each in (0, 1, -1)] == [
        5155172850510062254,
        3991933269242885997,
        405395162875839136,
    ]


@pytest.mark.parametrize("stride", [1, 64, 1 << 32, (1 << 32) + 1])
def test_numbers_in_a_row_are_spread_evenly(stride: int) -> None:
    values = np.arange(20_000) * stride
    table = np.zeros(slots_for(len(values)), np.int64)
    enter_numbers(values, table)
    assert_even(table, len(values))


@pytest.mark.parametrize("pattern", ["{}", "user-{:08}", "{:08}-suffix", "é{:x}é"])
def test_numbered_texts_are_spread_evenly(pattern: str) -> None:
    texts = [pattern.format(number).encode() for number in range(20_000)]
    offsets = np.cumsum([0, *map(len, texts)])
    table = np.zeros(slots_for(len(texts)), np.int64)
    enter_texts(offsets, np.frombuffer(b"".join(texts), np.uint8), table)
    assert_even(table, len(texts))


def assert_even(table: np.ndarray[tuple[int], np.dtype[np.int64]], rows: int) -> None:
    assert len(missing_rows(table, rows)) == 0
    runs = np.diff(np.flatnonzero(np.concatenate(([True], table == 0, [True])))) - 1
    # A perfect hash function at this load gives about 6 steps to an empty slot.
    assert (runs * (runs + 1) / 2).sum() / len(table) < 8
    assert len(np.unique(table >> 32)) > 0.999 * rows


def test_a_table_of_wrong_rows_is_told() -> None:
    assert missing_rows(np.array([2, 0, 1, 0]), 3).tolist() == [2]
    assert missing_rows(np.zeros(1, np.int64), 0).tolist() == []
    for bad in ([1, 1, 0], [4, 0, 0], [-1, 0, 0], [1 << 32, 0, 0]):
        assert missing_rows(np.array(bad), 3).tolist() == [-1]
