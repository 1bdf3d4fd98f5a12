"""What kernels answer about many rows: numbers in one array, row after row, and by row how many they are."""

import numpy as np

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints


@kernel
def longer(numbers: Ints, length: int) -> Ints:
    """Return an array of at least this length with the same beginning. Growing so costs little on average."""
    copied = np.empty(max(length, 2 * len(numbers)), np.int32)
    copied[: len(numbers)] = numbers
    return copied
