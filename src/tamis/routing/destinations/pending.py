"""What cannot be sent on at present."""

from collections import deque
from typing import Final

from tamis.routing.packets import Routed

#: So many packets wait at most; then the oldest is dropped.
LIMIT: Final = 10_000
#: So many seconds a packet waits at most (specs/002 §3.2).
PATIENCE: Final = 60.0


class Pending:
    """Packets for brokers that cannot be reached, the oldest first."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._waiting: deque[tuple[float, Routed]] = deque()

    def add(self, packet: Routed, now: float) -> Routed | None:
        """Let a packet wait; return the one that has to be dropped for it, if any."""
        self._waiting.append((now + PATIENCE, packet))
        return self._waiting.popleft()[1] if len(self._waiting) > self._limit else None

    def keep(self, until: float, packet: Routed) -> None:
        """Let a packet wait on that was taken out; called in the order in which they were."""
        self._waiting.append((until, packet))

    def take(self) -> list[tuple[float, Routed]]:
        """Take everything out, each with the time at which its patience ends."""
        entries = list(self._waiting)
        self._waiting.clear()
        return entries

    def expired(self, now: float) -> list[Routed]:
        """Take out what has waited too long."""
        gone: list[Routed] = []
        while self._waiting and self._waiting[0][0] <= now:
            gone.append(self._waiting.popleft()[1])
        return gone

    def until(self) -> float | None:
        """Return when the oldest will have waited too long."""
        return self._waiting[0][0] if self._waiting else None

    def __len__(self) -> int:
        return len(self._waiting)
