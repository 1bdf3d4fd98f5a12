"""Weaker dissemination, for comparison: it tells people too often, or what never was (specs/003 F14, seed §2.3).

Shah et al. only promise that a subscriber's value is less than its radius away from the true one. Each of their three
ways is here as one event after another, with a count of what our meaning forbids.
"""

from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.notification.circle import Doubles

Mask = npt.NDArray[np.bool_]
Way = Literal["largest", "parents", "pseudo"]


class Violations(msgspec.Struct, frozen=True):
    """What was told over some events, and what of it should not have been."""

    told: int
    #: Told although their value was still inside of their interval.
    needless: int
    #: Told a value that was never published.
    invented: int
    #: Left with a value that is a radius or more away from the true one.
    missed: int


class Weaker:
    """Subscriptions with different radii, all told the first value, in a tree where smaller radii serve larger ones.

    `largest`: everybody up to the largest radius affected is told. `parents`: who is told tells those that it serves
    whose values differ from its own by more than their radii do. `pseudo`: the same, but they are told a value half as
    far from their parent's as it may be, which keeps the tree in step. (The seed names pseudo-values only; the choice
    is ours, and so is the tree: in the order of radii, each serves the next `fanout` that nobody serves yet.)
    """

    def __init__(self, way: Way, radii: Doubles, value: float, fanout: int = 1) -> None:
        """Make the tree; with a `fanout` of 1 it is a chain."""
        self.way = way
        self.fanout = fanout
        self.radii = np.sort(radii)
        self.centres = np.full(len(radii), value)
        self._told = self._needless = self._invented = self._missed = 0

    def update(self, value: float) -> None:
        """Take a new value, and count."""
        before = self.centres.copy()
        affected = np.abs(value - before) >= self.radii
        told = self._largest(affected, value) if self.way == "largest" else self._down(value)
        self._told += int(told.sum())
        self._needless += int((told & ~affected).sum())
        self._invented += int((told & (self.centres != value)).sum())
        self._missed += int((np.abs(value - self.centres) >= self.radii).sum())

    def violations(self) -> Violations:
        """Return the counts so far."""
        return Violations(self._told, self._needless, self._invented, self._missed)

    def _largest(self, affected: Mask, value: float) -> Mask:
        told = np.zeros(len(affected), np.bool_)
        if affected.any():
            told[: np.flatnonzero(affected)[-1] + 1] = True
        self.centres[told] = value
        return told

    def _down(self, value: float) -> Mask:
        told = np.zeros(len(self.radii), np.bool_)
        spread(self.radii, self.centres, value, self.fanout, 0.5 if self.way == "pseudo" else 0.0, told)
        return told


@kernel
def spread(radii: Doubles, centres: Doubles, value: float, fanout: int, share: float, told: Mask) -> None:
    """Tell a value down the tree, each a `share` of what it may be away from its parent's; mark who is told."""
    last = -1
    for child in range(len(radii)):
        parent = child // fanout - 1
        if parent > last:
            break
        # The source knows the value itself, and nothing less would do.
        above, served = value, 0.0
        if parent >= 0:
            if not told[parent]:
                continue
            above, served = centres[parent], radii[parent]
        slack = radii[child] - served
        difference = above - centres[child]
        # At exactly a radius from the source's own value, nothing less than telling keeps within the radius.
        if abs(difference) <= slack and abs(difference) < radii[child]:
            continue
        centres[child] = above - np.copysign(share * slack, difference)
        told[child] = True
        last = child
