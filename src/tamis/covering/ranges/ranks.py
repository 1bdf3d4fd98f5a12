"""The cuts of one attribute on a line of integers: what conditions of any kind look like to tables of boxes.

A *cut* lies between the values of an attribute, of all kinds and null, that are on one line: `(kind,)` is before
all values of a kind, `(kind, value, side)` before or behind a value. Only cuts that conditions use are on the line, and
each has a *rank*, an integer that grows with it. So two conditions compare by ranks as they do by values, whatever the
values are, and a box of ranks is exact: there are no keys that two values share, as those of `tamis.covering.hull`.
"""

from bisect import bisect_left
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np

from tamis.geometry.leaves import Longs
from tamis.language.ranges import EVERYTHING, NOTHING
from tamis.language.values import Kind
from tamis.language.valueset import ValueSet

Cut: TypeAlias = tuple[Any, ...]
#: From a cut up to another.
Stretch: TypeAlias = tuple[Cut, Cut]

#: Ranks lie between the negative of this and this.
ROOM: Final = 1 << 62
#: A start beside the last new start takes this part of the room there, as an exponent, and an end beside the last new
#: end: with a half, a few dozen ascending values would use it up.
_NEAR: Final = 6


def stretches(values: ValueSet) -> list[Stretch]:
    """Return a set of values, filters aside, as the fewest stretches of the line, in order."""
    ends: list[Cut] = []
    null, other = (EVERYTHING if each else NOTHING for each in (values.null, values.other))
    for kind, ranges in ((Kind.NULL, null), *values.kinds(), (Kind.OTHER, other)):
        here: list[Cut] = [(int(kind),)] if ranges.starts_inside else []
        here += [(int(kind), *cut) for cut in ranges.cuts]
        if len(here) % 2:
            here.append((kind + 1,))
        if ends and here[:1] == ends[-1:]:
            del ends[-1], here[0]
        ends += here
    return list(zip(ends[::2], ends[1::2], strict=True))


class Ranks:
    """The cuts of one attribute that are in use, and their ranks."""

    def __init__(self) -> None:
        self._cuts: list[Cut] = []
        self._ranks: dict[Cut, int] = {}
        self._uses: dict[Cut, int] = {}
        #: By which end of a stretch: the last newcomer.
        self._last: dict[bool, Cut] = {}

    def __len__(self) -> int:
        return len(self._cuts)

    def __getitem__(self, cut: Cut) -> int:
        """Return the rank of a cut that is in use."""
        return self._ranks[cut]

    def hold(self, cut: Cut, ends: bool) -> bool:
        """Use a cut at which a stretch starts or ends.

        If it is new and there is no room for it, return False: ranks have to be spread first.
        """
        if cut not in self._ranks:
            place = bisect_left(self._cuts, cut)
            before = self._cuts[place - 1] if place else None
            behind = self._cuts[place] if place < len(self._cuts) else None
            low = -ROOM if before is None else self._ranks[before]
            high = ROOM if behind is None else self._ranks[behind]
            if high - low < 2:
                return False
            rank = (low + high) // 2
            last = self._last.get(ends)
            if last is not None and last == before:
                rank = low + max(1, (high - low) >> _NEAR)
            elif last is not None and last == behind:
                rank = high - max(1, (high - low) >> _NEAR)
            self._cuts.insert(place, cut)
            self._ranks[cut], self._uses[cut], self._last[ends] = rank, 0, cut
        self._uses[cut] += 1
        return True

    def release(self, cut: Cut) -> None:
        """Stop using a cut; once nobody does, it is forgotten."""
        self._uses[cut] -= 1
        if not self._uses[cut]:
            del self._uses[cut], self._ranks[cut], self._cuts[bisect_left(self._cuts, cut)]

    def spread(self) -> tuple[Longs, Longs]:
        """Put equal room between all ranks; return the old and the new ones, ascending."""
        old = np.array([self._ranks[cut] for cut in self._cuts], np.int64)
        step = 2 * ROOM // (len(old) + 1)
        new = [step * number - ROOM for number in range(1, len(old) + 1)]
        self._ranks = dict(zip(self._cuts, new, strict=True))
        return old, np.array(new, np.int64)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if ranks are not in the order of the cuts, or a cut is not in use."""
        assert self._cuts == sorted(self._ranks)
        assert self._ranks.keys() == self._uses.keys()
        ranks = [-ROOM, *(self._ranks[cut] for cut in self._cuts), ROOM]
        assert all(low < high for low, high in pairwise(ranks))
        assert all(self._uses.values())
