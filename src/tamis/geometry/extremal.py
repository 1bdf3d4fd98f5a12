"""Rectangles at the top corner of the grid, and the fewest standard cubes that make them up (specs/000 §6).

A point that dominates another lies in the rectangle between that one and the top corner. On the Z curve a standard
cube, aligned and with a side of `2 ** i`, is one run of keys; greedily the rectangle is cut into the largest ones. All
numbers are Python's integers: counts explode with the dimensions, so cubes are counted by formula and listed lazily.
"""

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from tamis.geometry.grid import checked_size


def truncated(side: int, kept: int) -> int:
    """Return `t(side, kept)`: only the top bits stay, the number itself if it has no more."""
    return cleared(side, max(0, side.bit_length() - kept))


def cleared(side: int, level: int) -> int:
    """Return `S_level(side)`: the bits below the level are gone."""
    return side >> level << level


def bits_to_keep(dimensions: int, epsilon: Fraction | float) -> int:
    """Return how many top bits of all sides leave at least `1 - epsilon` of any volume (Lemma 4)."""
    wanted = 2 * checked_size("dimensions", dimensions) / _checked_epsilon(epsilon, positive=True)
    # The smallest m with 2 ** m >= wanted.
    return (-(-wanted.numerator // wanted.denominator) - 1).bit_length()


@dataclass(frozen=True, slots=True)
class Extremal:
    """The rectangle with these sides, each from 1 to `2 ** bits`, at the top corner of `[0, 2 ** bits) ** d`."""

    sides: Sequence[int]
    bits: int

    def __post_init__(self) -> None:
        checked_size("bits", self.bits)
        if len(self.sides) == 0:
            raise ValueError("a rectangle needs at least one side")
        # Python's own integers, whatever was given: NumPy's would wrap.
        exact = tuple(checked_size(f"side {dimension}", side) for dimension, side in enumerate(self.sides))
        for dimension, side in enumerate(exact):
            if side > 1 << self.bits:
                raise ValueError(f"dimension {dimension}: the side {side} is not in 1..{1 << self.bits}")
        object.__setattr__(self, "sides", exact)

    @classmethod
    def above(cls, point: Iterable[int], bits: int) -> "Extremal":
        """Return the rectangle of all points that dominate this one, itself among them."""
        return cls([(1 << bits) - operator.index(each) for each in point], bits)

    @property
    def dimensions(self) -> int:
        """How many sides there are."""
        return len(self.sides)

    @property
    def volume(self) -> int:
        """How many cells it has."""
        return prod(self.sides)

    @property
    def aspect(self) -> int:
        """By how many bits the longest side is longer than the shortest."""
        return max(self.sides).bit_length() - min(self.sides).bit_length()

    @property
    def top_level(self) -> int:
        """The level of the largest cubes."""
        return min(self.sides).bit_length() - 1

    def cleared(self, level: int) -> tuple[int, ...]:
        """Return the sides of what all cubes from a level up fill, which is a rectangle at the top corner too."""
        return tuple(cleared(side, level) for side in self.sides)

    def corner(self, level: int = 0) -> tuple[int, ...]:
        """Return the low corner of what all cubes from a level up fill."""
        return tuple((1 << self.bits) - side for side in self.cleared(level))

    def truncated(self, kept: int) -> "Extremal":
        """Return the rectangle whose sides have only so many of their top bits."""
        return Extremal([truncated(side, checked_size("kept", kept)) for side in self.sides], self.bits)

    def cubes(self, level: int) -> int:
        """Return `N_level`: how many cubes of the partition have the side `2 ** level`."""
        return (prod(self.cleared(level)) - prod(self.cleared(level + 1))) >> (level * self.dimensions)

    def all_cubes(self) -> int:
        """Return how many cubes the partition has."""
        return sum(self.cubes(level) for level in range(self.top_level + 1))

    def level_for(self, epsilon: Fraction | float) -> int:
        """Return i*: the highest level such that the cubes from it up fill at least `1 - epsilon` of the volume."""
        wanted = (1 - _checked_epsilon(epsilon)) * self.volume
        return next(level for level in range(self.top_level, -1, -1) if prod(self.cleared(level)) >= wanted)

    def blocks(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield the cubes of a level as closed ranges of their own keys, `(bits - level) * d` bits long.

        Ascending and not adjacent. In cubes of this level the partition down to here is a box at the top corner, and
        so is what the larger cubes fill. Wanted is the first without the second; the grid is halved in the order of
        the Z curve, and parts that lie in neither or in both are left out. The thesis lists the same cubes in another
        order, by the set bits of the sides (§4.8, Algorithms 4.3 to 4.5).
        """
        axis_bits = self.bits - checked_size("level", level, least=0)
        if level > self.top_level:
            return
        top = 1 << axis_bits
        outer = [top - (side >> level) for side in self.sides]
        inner = [top - (side >> (level + 1) << 1) for side in self.sides]
        pending: tuple[int, int] | None = None
        for first, last in _difference(outer, inner, axis_bits):
            if pending is not None and first == pending[1] + 1:
                pending = (pending[0], last)
                continue
            if pending is not None:
                yield pending
            pending = (first, last)
        if pending is not None:
            yield pending

    def keys(self, level: int) -> Iterator[int]:
        """Yield the Z keys, `(bits - level) * d` bits long, of the cubes of a level, ascending."""
        for first, last in self.blocks(level):
            yield from range(first, last + 1)

    def ranges(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield the closed ranges of Z keys of the cells in the cubes of a level, ascending and not adjacent."""
        shift = level * self.dimensions
        for first, last in self.blocks(level):
            yield first << shift, ((last + 1) << shift) - 1


def hardest(dimensions: int, gamma: int, alpha: int, bits: int) -> Extremal:
    """Return a rectangle of aspect `alpha` with many runs on the Z curve (Theorem 3); see `hardest_runs`."""
    checked_size("dimensions", dimensions, least=2)
    long = checked_size("gamma", gamma) + checked_size("alpha", alpha, least=0)
    if long > bits:
        raise ValueError(f"gamma {gamma} and alpha {alpha} need {long} bits for a side; there are {bits}")
    return Extremal(((1 << long) - 1,) * (dimensions - 1) + ((1 << gamma) - 1,), bits)


def hardest_runs(dimensions: int, gamma: int, alpha: int) -> int:
    """Return how many runs a rectangle has at least whose last side is `2 ** gamma - 1` and whose other sides have
    `gamma + alpha` bits (Lemma 10)."""
    return 1 << (gamma + alpha - 1) * (dimensions - 1)


def most_cubes(dimensions: int, alpha: int, kept: int) -> int:
    """Return how many cubes a rectangle of aspect `alpha` has at most if its sides have only `kept` top bits.

    Lemma 9 says fewer, but fails where `2 ** alpha` is not above `dimensions - 1`; this is the corrected bound.
    """
    bound: int = checked_size("dimensions", dimensions) * kept * ((1 << (alpha + kept)) - 1) ** (dimensions - 1)
    return bound


def _checked_epsilon(epsilon: Fraction | float, positive: bool = False) -> Fraction:
    exact = Fraction(epsilon)
    if not 0 <= exact < 1 or (positive and exact == 0):
        raise ValueError(f"epsilon must be {'above' if positive else 'at least'} 0 and below 1, not {epsilon}")
    return exact


def _difference(outer: list[int], inner: list[int], axis_bits: int) -> Iterator[tuple[int, int]]:
    """Yield blocks of Z keys, ascending: the cells at or above `outer` in every dimension but not above `inner` in all.

    `inner` is at or above `outer`; where it is above the grid the second box is empty.
    """
    dimensions = len(outer)
    total = axis_bits * dimensions
    every = range(dimensions)
    # A part waits with its prefix, its free bits, the dimensions in which it reaches below either box, and whether all
    # of it lies outside of the inner one.
    empty = any(each >> axis_bits for each in inner)
    waiting = [(0, total, sum((outer[j] > 0) << j for j in every), sum((inner[j] > 0) << j for j in every), empty)]
    while waiting:
        key, rest, below, under, out = waiting.pop()
        if not below and out:
            yield key << rest, ((key + 1) << rest) - 1
            continue
        if not under and not out:
            continue
        rest -= 1
        level, place = divmod(rest, dimensions)
        axis = dimensions - 1 - place
        for bit in (1, 0):
            part_below, part_under, part_out = below, under, out
            if below >> axis & 1:
                corner = outer[axis] >> level & 1
                if bit < corner:
                    continue
                if bit > corner or not outer[axis] & ((1 << level) - 1):
                    part_below ^= 1 << axis
            if under >> axis & 1 and not out:
                corner = inner[axis] >> level & 1
                part_out = bit < corner
                if bit > corner or not inner[axis] & ((1 << level) - 1):
                    part_under ^= 1 << axis
            waiting.append((key << 1 | bit, rest, part_below, part_under, part_out))
