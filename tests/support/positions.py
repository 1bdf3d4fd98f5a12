"""Runs as plain sets of positions: what interval structures are judged by."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from tamis.geometry.leaves import Runs

#: All positions of `run_lists` are below this.
LAST = 120


def as_runs(pairs: list[tuple[int, int]]) -> Runs:
    """Return pairs as the two arrays that kernels take."""
    return np.array([a for a, _ in pairs], np.int64), np.array([b for _, b in pairs], np.int64)


def positions(pairs: list[tuple[int, int]]) -> set[int]:
    """Return all positions in runs."""
    return {point for a, b in pairs for point in range(a, b + 1)}


def closed(points: set[int], theta: int) -> set[int]:
    """Return positions with all gaps of less than `theta` filled."""
    ordered = sorted(points)
    filled = set(points)
    for left, right in pairwise(ordered):
        if right - left - 1 < theta:
            filled.update(range(left, right))
    return filled


@st.composite
def run_lists(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Runs with at least one position between them."""
    edges = sorted(draw(st.sets(st.integers(0, LAST), max_size=8)))
    pairs = list(zip(edges[::2], edges[1::2], strict=False))
    return [pair for number, pair in enumerate(pairs) if number == 0 or pairs[number - 1][1] + 1 < pair[0]]
