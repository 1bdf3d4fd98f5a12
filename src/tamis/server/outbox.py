"""What is still to be written to a connection: gathered for one tick, and bounded when the other end does not read."""

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any, Final, NamedTuple

from tamis.wire import DeliveryFrames, Dropped, Slow, frame

#: What was gathered is written at once when there is more of it than so many bytes, not only at the end of a tick.
GATHERED: Final = 1 << 18
#: So many bytes are handed to the operating system in advance before events wait here, where they can be dropped.
AHEAD: Final = 1 << 17
#: Events that wait may have so many bytes together, whatever their number is.
MAX_BYTES: Final = 1 << 26


class _Waiting(NamedTuple):
    number: bytes
    event: DeliveryFrames
    age: float | None
    since: float


class Outbox:
    """The frames for one connection. At most `limit` events wait; then the oldest or the newest go, or `full` is
    called.

    Everything but events is written in any case: it is bounded by what was asked, and who asks without reading the
    answers is not read any further (`Connection.pause`).
    """

    def __init__(self, write: Callable[[bytes], Any], limit: int, slow: Slow, full: Callable[[], None]) -> None:
        self._write = write
        self._limit = limit
        self.slow: Slow = slow
        self._full = full
        self._gathered: list[bytes] = []
        self._size = 0
        self._waiting: deque[_Waiting] = deque()
        self._waiting_bytes = 0
        #: Whether the other end does not read.
        self.paused = False
        #: So many events were dropped as agreed, and so many came to nothing because the connection ended.
        self.dropped = self.lost = 0
        self._told = 0

    def __len__(self) -> int:
        """Return how many events wait."""
        return len(self._waiting)

    @property
    def size(self) -> int:
        """How many bytes are here."""
        return self._size + self._waiting_bytes

    def put(self, data: bytes) -> None:
        """Let something be written that may not be dropped."""
        self._gathered.append(data)
        self._size += len(data)
        if self._size > GATHERED and not self.paused:
            self.flush()

    def deliver(self, number: bytes, event: DeliveryFrames, age: float | None) -> None:
        """Let an event be written for a subscription, whose number has four bytes."""
        if self.paused:
            self._wait(_Waiting(number, event, age, 0.0 if age is None else monotonic()))
            return
        self._gathered += (event.first, number, event.last)
        self._size += event.length
        if self._size > GATHERED:
            self.flush()

    def _wait(self, waiting: _Waiting) -> None:
        while len(self._waiting) >= self._limit or self._waiting_bytes + waiting.event.length > MAX_BYTES:
            if self.slow == "disconnect":
                self.lost += 1
                self._full()
                return
            self.dropped += 1
            if self.slow == "drop-newest" or not self._waiting:
                return
            self._waiting_bytes -= self._waiting.popleft().event.length
        self._waiting.append(waiting)
        self._waiting_bytes += waiting.event.length

    def flush(self) -> None:
        """Write what was gathered."""
        if self._gathered:
            data = b"".join(self._gathered)
            self._gathered.clear()
            self._size = 0
            self._write(data)

    def resume(self) -> None:
        """The other end reads again: write what has waited, until it does not read any more."""
        self.paused = False
        if self.dropped > self._told:
            self._told = self.dropped
            self.put(frame(Dropped(self.dropped)))
        while self._waiting and not self.paused:
            number, event, age, since = self._waiting.popleft()
            self._waiting_bytes -= event.length
            # The age has grown while the event was here.
            last = event.last if age is None else event.aged(age + monotonic() - since)
            self._gathered += (event.first, number, last)
            self._size += event.length
            if self._size > AHEAD:
                self.flush()

    def drop_all(self) -> None:
        """Forget everything: the connection is gone."""
        self.lost += len(self._waiting)
        self._gathered.clear()
        self._waiting.clear()
        self._size = self._waiting_bytes = 0
