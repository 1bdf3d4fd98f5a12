"""Arrays behind addresses: the same, compiled or not."""

from collections.abc import Callable

import numpy as np
import pytest

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Longs
from tamis.matching.segments.addresses import addresses, array_at

ARRAYS = (np.arange(5, dtype=np.int32), np.empty(0, np.int32), np.array([2**40, 7]), np.array([255], np.uint8))


def _changed(held: Longs) -> int:
    """Return the sum of all arrays, after the first number of the third was made one more."""
    array_at(held, 2, np.int64)[0] += 1
    few, none, large, small = (
        array_at(held, 0, np.int32),
        array_at(held, 1, np.int32),
        array_at(held, 2, np.int64),
        array_at(held, 3, np.uint8),
    )
    return int(few.sum() + len(none) + large.sum() + small.sum())


@pytest.mark.parametrize("function", [_changed, kernel(_changed)])
def test_arrays_are_read_and_changed_where_they_are(function: Callable[[Longs], int]) -> None:
    arrays = [each.copy() for each in ARRAYS]
    assert function(addresses(arrays)) == 10 + 0 + 2**40 + 1 + 7 + 255
    assert arrays[2].tolist() == [2**40 + 1, 7]


def test_an_array_in_pieces_has_no_address() -> None:
    with pytest.raises(ValueError, match="in pieces"):
        addresses([np.arange(10)[::2]])
