"""Space-filling curves: every cell of a grid has a place on a line, and near cells are mostly near there."""

from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.geometry.descent import descend, descend_compiled
from tamis.geometry.grid import checked_box, checked_points, checked_size
from tamis.geometry.integers import MOST_BITS, Integers, dtype_of, either, integers
from tamis.geometry.regions import FIELDS
from tamis.geometry.turns import turned

Name = Literal["z", "hilbert"]

#: Room for so many runs is there at first; a box that has more is descended twice.
_FIRST_RUNS: Final = 64
#: A box with more runs than this is refused: 2 GiB of them, or some minutes where they are Python's integers.
MOST_RUNS: Final = 1 << 27
MOST_WIDE_RUNS: Final = 1 << 22


class TooManyRunsError(ValueError):
    """A box has more runs than can be listed."""

    def __init__(self, box: str, most: int) -> None:
        super().__init__(f"{box} has more than {most:,} runs on the curve; decompose it with max_runs and node_cap")


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve through all cells of the grid `[0, 2 ** bits) ** dimensions`; the keys are `0 .. 2 ** (bits * d) - 1`.

    Every aligned cube of cells is one aligned block of keys. Keys are 64-bit integers while they have at
    most 63 bits, Python's integers in arrays of objects beyond; coordinates likewise.

    `"z"` interleaves the bits of the coordinates, dimension 0 first: (010, 011) is 001101 (specs/000 §6).
    `"hilbert"` is the curve of specs/001 F2: two cells that follow each other differ by one step on one axis. There
    are other Hilbert curves from 3 dimensions on, so what stores keys must store that it is this one, by `name`.
    """

    name: Name
    dimensions: int
    bits: int

    def __post_init__(self) -> None:
        if self.name not in get_args(Name):
            raise ValueError(f"there is no curve {self.name!r}; there are: {', '.join(get_args(Name))}")
        checked_size("dimensions", self.dimensions)
        checked_size("bits", self.bits)

    @property
    def key_bits(self) -> int:
        """How many bits a key has."""
        return self.bits * self.dimensions

    @property
    def wide(self) -> bool:
        """Whether keys are beyond 64-bit integers."""
        return self.key_bits > MOST_BITS

    @property
    def most_runs(self) -> int:
        """How many runs of a box are listed at most."""
        return MOST_WIDE_RUNS if self.wide else MOST_RUNS

    @property
    def turning(self) -> bool:
        """Whether this is the Hilbert curve."""
        return self.name == "hilbert"

    def encode(self, points: npt.ArrayLike) -> Integers:
        """Return the keys of points, given as an array of shape (n, dimensions)."""
        array = self.inward(checked_points(points, self.dimensions, self.bits))
        keys: Integers = np.empty(len(array), dtype_of(self.wide))
        (_encode if self.wide else _encode_compiled)(array, self.bits, self.turning, keys)
        return keys

    def decode(self, keys: npt.ArrayLike) -> Integers:
        """Return the points of keys, as an array of shape (n, dimensions)."""
        array = integers(keys, self.wide, "keys")
        if array.ndim != 1:
            raise ValueError(f"keys must have one dimension, not the shape {array.shape}")
        if array.size and (array.min() < 0 or array.max() >> self.key_bits):
            odd = next(each for each in array.tolist() if each < 0 or each >> self.key_bits)
            raise ValueError(f"the key {odd} lies outside of 0..{(1 << self.key_bits) - 1}")
        points: Integers = np.zeros((len(array), self.dimensions), dtype_of(self.wide))
        (_decode if self.wide else _decode_compiled)(array, self.bits, self.turning, points)
        return self.inward(points).astype(dtype_of(self.bits > MOST_BITS), copy=False)

    def runs(self, low: npt.ArrayLike, high: npt.ArrayLike) -> tuple[Integers, Integers]:
        """Return the maximal runs of keys of a closed box: their starts and their ends, ascending (specs/001 F3)."""
        low, high = (self.inward(corner) for corner in checked_box(low, high, self.dimensions, self.bits))
        walk = descend if self.wide else descend_compiled
        waiting = self.scratch()
        room = _FIRST_RUNS
        while True:
            starts: Integers = np.empty(room, dtype_of(self.wide))
            ends = np.empty_like(starts)
            found = walk(low, high, self.bits, self.turning, waiting, starts, ends, self.most_runs)
            if found > self.most_runs:
                raise TooManyRunsError("the box", self.most_runs)
            if found <= room:
                return starts[:found], ends[:found]
            room = found

    def inward(self, array: Integers) -> Integers:
        """Return coordinates in the order in which kernels take them, or back.

        Kernels give axis j the bit j of a digit, as F2 does; on the Z curve dimension 0 has the highest bit.
        """
        return array if self.turning else np.ascontiguousarray(array[..., ::-1])

    def scratch(self) -> Integers:
        """Return what `descend` needs."""
        return np.empty((self.key_bits, FIELDS), dtype_of(self.wide))


def curve(name: str, dimensions: int, bits: int) -> Curve:
    """Return the curve `"z"` or `"hilbert"` for so many dimensions, with so many bits for each."""
    return Curve(cast(Name, name), dimensions, bits)


@either
def _encode(points: Integers, bits: int, turning: bool, keys: Integers) -> None:
    dimensions = points.shape[1]
    digits = (1 << dimensions) - 1
    for row in range(len(points)):
        key = entry = 0
        turn = 1 % dimensions if turning else 0
        for level in range(bits - 1, -1, -1):
            before = 0
            for place in range(dimensions - 1, -1, -1):
                axis = place + turn
                if axis >= dimensions:
                    axis -= dimensions
                bit = ((points[row, axis] >> level) ^ (entry >> axis) ^ before) & 1
                key = (key << 1) | bit
                if turning:
                    before = bit
            if turning:
                entry, turn = turned(entry, turn, key & digits, dimensions)
        keys[row] = key


@either
def _decode(keys: Integers, bits: int, turning: bool, points: Integers) -> None:
    dimensions = points.shape[1]
    digits = (1 << dimensions) - 1
    for row in range(len(keys)):
        entry = 0
        turn = 1 % dimensions if turning else 0
        for level in range(bits - 1, -1, -1):
            digit = (keys[row] >> (level * dimensions)) & digits
            gray = digit ^ (digit >> 1) if turning else digit
            for place in range(dimensions):
                axis = place + turn
                if axis >= dimensions:
                    axis -= dimensions
                points[row, axis] |= (((gray >> place) ^ (entry >> axis)) & 1) << level
            if turning:
                entry, turn = turned(entry, turn, digit, dimensions)


_encode_compiled = kernel(_encode)
_decode_compiled = kernel(_decode)
