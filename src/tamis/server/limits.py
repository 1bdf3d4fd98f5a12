"""How much one client may do, so that none takes what the others need."""

import math
from typing import Final

import msgspec

from tamis.language.limits import MAX_TEXT_BYTES

#: A client has at most so many subscriptions.
MAX_SUBSCRIPTIONS: Final = 1 << 20
#: What can be set to how much, at most.
_MOST: Final = {
    "burst": 1 << 30,
    "subscriptions": MAX_SUBSCRIPTIONS,
    "condition": MAX_TEXT_BYTES,
    "connections": 1 << 30,
}


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one client may use: with tokens all connections of a subject together, without them each connection.

    Numbers that make no sense are a `ValueError`.
    """

    #: Events published in a second, over time; None for as many as the broker takes.
    rate: float | None = None
    #: Events published at once, by one who was quiet; None for those of a second.
    burst: int | None = None
    subscriptions: int = MAX_SUBSCRIPTIONS
    #: Bytes of a condition.
    condition: int = MAX_TEXT_BYTES
    #: Connections at a time, by whatever protocol; None for as many as the broker takes.
    connections: int | None = None

    def __post_init__(self) -> None:
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise ValueError(f"rate is {self.rate}, but it is a number of events in a second, above 0")
        for name, most in _MOST.items():
            value = getattr(self, name)
            if value is not None and not 1 <= value <= most:
                raise ValueError(f"{name} is {value:,}, but it is from 1 to {most:,}")

    @property
    def room(self) -> float:
        """How many events may be published at once."""
        return float(self.burst or max(1.0, self.rate or 1.0))


class Bucket:
    """A token bucket: it holds as many events as may be published at once, and fills at the rate of the limits."""

    __slots__ = ("_at", "_level")

    def __init__(self) -> None:
        self._level: float | None = None
        self._at = 0.0

    def take(self, limits: Limits, now: float) -> float:
        """Return 0 if an event may be published now, and count it; otherwise in how many seconds one may be."""
        if limits.rate is None:
            return 0.0
        level = limits.room if self._level is None else min(limits.room, self._level + (now - self._at) * limits.rate)
        self._at = now
        self._level = level - 1 if level >= 1 else level
        return 0.0 if level >= 1 else (1 - level) / limits.rate
