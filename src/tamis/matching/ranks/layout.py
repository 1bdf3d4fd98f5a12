"""All lines one behind the other: how bulk kernels walk over the leaves that a predicate covers."""

from itertools import chain
from typing import NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, View
from tamis.matching.ranks.space import Space


class Layout(NamedTuple):
    """A snapshot of the leaves of a `Space`; the next split or merge makes it void.

    The leaves of all lines stand in `leaves`, line after line, each from left to right; leaf x stands at `place[x]`.
    So a stretch (low, high) covers `leaves[place[low] : place[high]]`.
    """

    leaves: Ints
    place: Ints


def layout(space: Space) -> Layout:
    """Return where all leaves stand now."""
    leaves = np.fromiter(chain.from_iterable(line.leaves() for line in space.lines if line is not None), np.int32)
    place = np.zeros(space.leaves, np.int32)
    place[leaves] = np.arange(len(leaves), dtype=np.int32)
    return Layout(leaves, place)


@kernel
def width(predicate: int, bounds: View, where: Layout) -> int:
    """Return how many leaves a predicate covers."""
    covered = 0
    first = bounds.start[predicate]
    for at in range(first, first + bounds.size[predicate], 2):
        covered += where.place[bounds.data[at + 1]] - where.place[bounds.data[at]]
    return covered


@kernel
def expand(predicate: int, bounds: View, where: Layout, buffer: Ints) -> int:
    """Write the leaves that a predicate covers into a buffer and return how many they are."""
    written = 0
    first = bounds.start[predicate]
    for at in range(first, first + bounds.size[predicate], 2):
        for place in range(where.place[bounds.data[at]], where.place[bounds.data[at + 1]]):
            buffer[written] = where.leaves[place]
            written += 1
    return written
