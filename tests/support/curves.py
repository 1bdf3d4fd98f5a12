"""Boxes on the grids of curves for Hypothesis, and what the specifications say of them, cell by cell."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from hypothesis import strategies as st

NAMES = ("z", "hilbert")


class Box(NamedTuple):
    """A closed box on the grid of a curve."""

    name: str
    dimensions: int
    bits: int
    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def volume(self) -> int:
        """How many cells it has."""
        return len(list(self.cells()))

    def cells(self) -> Iterable[tuple[int, ...]]:
        """Return its cells."""
        return product(*(range(low, high + 1) for low, high in zip(self.low, self.high, strict=True)))

    def runs(self) -> list[tuple[int, int]]:
        """Return its runs, by sorting the keys of its cells."""
        key = z_key if self.name == "z" else hilbert_key
        return clustered(key(cell, self.bits) for cell in self.cells())


@st.composite
def boxes(draw: st.DrawFn, key_bits: int = 10) -> Box:
    """Return any box on a grid with at most so many cells, as a power of two."""
    dimensions = draw(st.integers(1, 6))
    bits = draw(st.integers(1, max(1, key_bits // dimensions)))
    sides = [sorted(draw(st.tuples(*[st.integers(0, (1 << bits) - 1)] * 2))) for _ in range(dimensions)]
    low, high = zip(*sides, strict=True)
    return Box(draw(st.sampled_from(NAMES)), dimensions, bits, low, high)


@st.composite
def small_boxes_on_large_grids(draw: st.DrawFn, least_key_bits: int, most_key_bits: int) -> Box:
    """Return a box with few cells where keys are long."""
    dimensions = draw(st.integers(1, 8) | st.sampled_from((20, most_key_bits)))
    bits = draw(st.integers(-(-least_key_bits // dimensions), max(1, most_key_bits // dimensions)))
    wide = draw(st.lists(st.integers(0, dimensions - 1), max_size=3, unique=True))
    low, high = [], []
    for dimension in range(dimensions):
        last = (1 << bits) - 1
        low.append(draw(st.integers(0, last) | st.sampled_from((0, last, last >> 1))))
        high.append(min(last, low[-1] + draw(st.integers(0, 3))) if dimension in wide else low[-1])
    return Box(draw(st.sampled_from(NAMES)), dimensions, bits, tuple(low), tuple(high))


def clustered(keys: Iterable[int]) -> list[tuple[int, int]]:
    """Return the maximal runs of keys."""
    runs: list[tuple[int, int]] = []
    for key in sorted(keys):
        if runs and runs[-1][1] == key - 1:
            runs[-1] = (runs[-1][0], key)
        else:
            runs.append((key, key))
    return runs


def z_key(point: Sequence[int], bits: int) -> int:
    """Interleave the bits, dimension 1 first (specs/000 §6)."""
    return int("".join(f"{x:0{bits}b}"[place] for place in range(bits) for x in point), 2)


def hilbert_key(point: Sequence[int], bits: int) -> int:
    """Encode as specs/001 F2 writes it."""
    d = len(point)
    h = e = r = 0
    for i in range(bits - 1, -1, -1):
        w = _gcinv(_rotl(sum((x >> i & 1) << j for j, x in enumerate(point)) ^ e, -(r + 1), d))
        h = h << d | w
        direction = 0 if w == 0 else (_tsb(w - 1) if w % 2 == 0 else _tsb(w)) % d
        e ^= _rotl(0 if w == 0 else _gc(2 * ((w - 1) // 2)), r + 1, d)
        r = (r + direction + 1) % d
    return h


def _gc(i: int) -> int:
    return i ^ i >> 1


def _gcinv(g: int) -> int:
    i = 0
    while g:
        i, g = i ^ g, g >> 1
    return i


def _tsb(i: int) -> int:
    return (~i & i + 1).bit_length() - 1


def _rotl(x: int, by: int, d: int) -> int:
    by %= d
    return (x << by | x >> (d - by)) & ((1 << d) - 1)
