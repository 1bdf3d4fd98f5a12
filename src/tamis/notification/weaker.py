"""Weaker dissemination, for comparison: it tells people too often, or what never was (specs/003 F14, seed §2.3).

Shah et al. only promise that a subscriber's value is less than its radius away from the true one. Each of their three
ways is here as one event after another, with a count of what our meaning forbids.
"""

from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

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
    """Subscriptions with different radii, all told the first value, in a chain from the smallest radius to the largest.

    `largest`: everybody up to the largest radius affected is told. `parents`: who is told tells the next one if their
    values differ by more than their radii do. `pseudo`: the same, but the next one is told a value half as far from its
    parent's as it may be, which keeps the chain in step. (The seed names pseudo-values only; the choice is ours.)
    """

    def __init__(self, way: Way, radii: Doubles, value: float) -> None:
        self.way = way
        self.radii = np.sort(radii)
        self.centres = np.full(len(radii), value)
        self._told = self._needless = self._invented = self._missed = 0

    def update(self, value: float) -> None:
        """Take a new value, and count."""
        before = self.centres.copy()
        affected = np.abs(value - before) >= self.radii
        told = self._largest(affected, value) if self.way == "largest" else self._chain(value)
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

    def _chain(self, value: float) -> Mask:
        told = np.zeros(len(self.radii), np.bool_)
        # The source knows the value itself, and nothing less would do.
        parent_value, parent_radius = value, 0.0
        for child, radius in enumerate(self.radii.tolist()):
            slack = radius - parent_radius
            difference = parent_value - self.centres[child]
            # At exactly a radius from the source's own value, nothing less than telling keeps within the radius.
            if abs(difference) <= slack and abs(difference) < radius:
                break
            away = 0.0 if self.way == "parents" else 0.5 * slack
            self.centres[child] = parent_value - np.copysign(away, difference)
            told[child] = True
            parent_value, parent_radius = float(self.centres[child]), radius
        return told
