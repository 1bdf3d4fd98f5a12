"""Where on a long line of numbers to look for one: the line is cut into equal stretches, and each tells its cuts."""

from typing import Final, NamedTuple

import numpy as np

from tamis.compiled import inlined, kernel
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.cuts import Doubles

#: Cuts for each stretch, if they lie evenly.
_CUTS: Final = 4
#: A shorter line is searched as it is.
_SHORTEST: Final = 64


class Guide(NamedTuple):
    """A number in stretch s, by `stretch_of`, is among the cuts from `starts[s]` up to `starts[s + 1]`, or behind them.

    With a single stretch this is the whole line.
    """

    first: float
    scale: float
    starts: Ints


@inlined
def stretch_of(number: float, first: float, scale: float, stretches: int) -> int:
    """Return the stretch of a number. It never decreases with the number, however this is rounded."""
    return int(min(max((number - first) * scale, 0.0), stretches - 1.0))


def guide_of(cuts: Doubles | Longs, begin: int, end: int) -> Guide:
    """Return the guide to the sorted cuts of a line, which lie from one place up to another."""
    stretches = (end - begin) // _CUTS if end - begin >= _SHORTEST else 1
    first, last = (float(cuts[begin]), float(cuts[end - 1])) if begin < end else (0.0, 0.0)
    with np.errstate(all="ignore"):
        scale = float(np.float64(stretches) / (np.float64(last) - first))
    # Where it is 0, or infinite, or there are infinite cuts, infinity would have no place.
    if stretches == 1 or not (np.isfinite(first) and np.isfinite(last) and 0 < scale < np.inf):
        return Guide(0.0, 1.0, np.array([begin, end], np.int32))
    return Guide(first, scale, _starts(cuts, begin, end, first, scale, stretches))


@kernel
def _starts(cuts: Doubles | Longs, begin: int, end: int, first: float, scale: float, stretches: int) -> Ints:
    starts = np.empty(stretches + 1, np.int32)
    stretch = 0
    for cut in range(begin, end):
        own = stretch_of(float(cuts[cut]), first, scale, stretches)
        while stretch <= own:
            starts[stretch] = cut
            stretch += 1
    starts[stretch:] = end
    return starts
