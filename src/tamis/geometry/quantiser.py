"""From values to cells: one axis of the content space (specs/001 F1).

Cells are half-open, `[edge, next edge)`, and the last one closed. A larger value never has a smaller cell. So a value
between two others has a cell between theirs, and no true match is ever lost; what cells cannot tell apart are false
positives only.
"""

import heapq
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from tamis.geometry.grid import checked_size
from tamis.geometry.integers import Longs

#: An axis keeps all of its edges.
MOST_AXIS_BITS: Final = 20

_Floats = npt.NDArray[np.float64]


class Quantiser:
    """`2 ** bits` cells of one axis, given by one more edges than cells, ascending.

    The first edge may be `-inf` and the last `inf`: the end cells then are open-ended and take every value. If they
    are finite they bound the domain, and a value outside is refused.
    """

    __slots__ = ("bits", "edges")

    def __init__(self, edges: npt.ArrayLike) -> None:
        array = _numbers(edges, "edges")
        if array.ndim != 1 or len(array) < 3 or (len(array) - 1) & (len(array) - 2):
            raise ValueError(f"edges must be 2 ** bits + 1 numbers in one dimension, not the shape {array.shape}")
        flat = np.flatnonzero(array[1:] <= array[:-1])
        if flat.size:
            at = int(flat[0])
            raise ValueError(f"edge {at + 1} must be above edge {at}: {array[at + 1]} is not above {array[at]}")
        self.edges = array
        self.bits = _checked_bits((len(array) - 1).bit_length() - 1)

    @classmethod
    def uniform(cls, low: float, high: float, bits: int, bounded: bool = False) -> "Quantiser":
        """Return cells of equal width from `low` to `high`.

        What lies outside belongs to the end cells; if the domain is `bounded` it is refused.
        """
        _check_domain(low, high)
        steps = np.arange((1 << _checked_bits(bits)) + 1) / (1 << bits)
        # In halves: the width of a domain may be beyond the largest number.
        edges = 2.0 * (low / 2.0 + (high / 2.0 - low / 2.0) * steps)
        edges[0], edges[-1] = low, high
        if (edges[1:] <= edges[:-1]).any():
            raise ValueError(f"there are no {1 << bits} cells between {low!r} and {high!r}")
        return cls(_ended(edges, bounded))

    @classmethod
    def quantiles(
        cls,
        sample: npt.ArrayLike,
        bits: int,
        low: float | None = None,
        high: float | None = None,
        bounded: bool = False,
    ) -> "Quantiser":
        """Return cells that hold about equally many values of a sample, from `low` to `high` or the sample's ends.

        A value that is frequent has several quantiles; for each that is lost so, the widest cell is split in the
        middle. What lies outside belongs to the end cells; if the domain is `bounded` it is refused.
        """
        values = _numbers(sample, "sample")
        if values.size == 0 or not np.isfinite(values).all():
            raise ValueError("the sample must hold at least one value, and finite ones only")
        low = float(values.min()) if low is None else low
        high = float(values.max()) if high is None else high
        _check_domain(low, high)
        cells = 1 << _checked_bits(bits)
        inner = np.quantile(values, np.arange(1, cells) / cells, method="inverted_cdf")
        inner = np.unique(inner[(inner > low) & (inner < high)])
        return cls(_ended(_padded(np.concatenate(([low], inner, [high])), cells), bounded))

    def cells(self, values: npt.ArrayLike) -> Longs:
        """Return the cells of values, in an array of the same shape."""
        array = _numbers(values, "values")
        outside = (array < self.edges[0]) | (array > self.edges[-1])
        if outside.any():
            value = array[outside].ravel()[0]
            raise ValueError(f"the value {value} lies outside of the domain {self.edges[0]}..{self.edges[-1]}")
        found = np.searchsorted(self.edges, array, side="right") - 1
        return np.minimum(found, (1 << self.bits) - 1).astype(np.int64)

    def ranges(self, lows: npt.ArrayLike, highs: npt.ArrayLike) -> tuple[Longs, Longs]:
        """Return the first and last cells of closed ranges of values: what F1 calls augmentation."""
        low, high = _numbers(lows, "lows"), _numbers(highs, "highs")
        if low.shape != high.shape:
            raise ValueError(f"lows have the shape {low.shape} and highs {high.shape}")
        turned = np.argwhere(low > high)
        if turned.size:
            at = tuple(turned[0].tolist())
            raise ValueError(f"low {low[at]} is above high {high[at]}, at {at}")
        return self.cells(low), self.cells(high)


def _numbers(values: npt.ArrayLike, name: str) -> _Floats:
    try:
        array = np.asarray(values).astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers") from None
    if np.isnan(array).any():
        raise ValueError(f"{name} must not hold NaN")
    return array


def _checked_bits(bits: int) -> int:
    if checked_size("bits", bits) > MOST_AXIS_BITS:
        raise ValueError(f"an axis has at most {MOST_AXIS_BITS} bits, not {bits}")
    return bits


def _check_domain(low: float, high: float) -> None:
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"a domain is given by finite ends, not {low!r} and {high!r}; the end cells reach beyond them")
    if low >= high:
        raise ValueError(f"low {low!r} must be below high {high!r}")


def _ended(edges: _Floats, bounded: bool) -> _Floats:
    if not bounded:
        edges[0], edges[-1] = -np.inf, np.inf
    return edges


def _padded(edges: _Floats, cells: int) -> _Floats:
    """Return edges with the widest cells split until there are so many cells."""
    points = edges.tolist()
    widest = [(low / 2 - high / 2, low, high) for low, high in pairwise(points)]
    heapq.heapify(widest)
    while len(points) <= cells:
        _, low, high = widest[0]
        middle = low / 2 + high / 2
        if not low < middle < high:
            raise ValueError(f"there are no {cells} cells between {points[0]!r} and {edges[-1]!r}")
        points.append(middle)
        heapq.heapreplace(widest, (low / 2 - middle / 2, low, middle))
        heapq.heappush(widest, (middle / 2 - high / 2, middle, high))
    return np.sort(np.asarray(points, np.float64))
