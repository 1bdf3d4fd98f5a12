"""What kernels answer about many rows: numbers in one array, row after row, and by row how many they are."""

from typing import NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, Longs


class Answers(NamedTuple):
    """Rows that events met: event r of the batch met `rows[offsets[r] : offsets[r + 1]]`."""

    offsets: Longs
    rows: Ints


@kernel
def longer(numbers: Ints, length: int) -> Ints:
    """Return an array of at least this length with the same beginning. Growing so costs little on average."""
    copied = np.empty(max(length, 2 * len(numbers)), np.int32)
    copied[: len(numbers)] = numbers
    return copied


@kernel
def both(one: Answers, other: Answers) -> Answers:
    """Return what events met in two searches."""
    offsets = one.offsets + other.offsets
    rows = np.empty(len(one.rows) + len(other.rows), np.int32)
    # Where only how many were asked for, there are no rows.
    if len(rows):
        for event in range(len(offsets) - 1):
            at = offsets[event]
            for part in (one, other):
                for place in range(part.offsets[event], part.offsets[event + 1]):
                    rows[at] = part.rows[place]
                    at += 1
    return Answers(offsets, rows)
