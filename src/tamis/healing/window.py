"""How much do the newest numbers differ? The largest less the smallest, over a window that slides."""

from collections import deque
from typing import Final

#: So many numbers are looked back on at most, whatever the window.
MOST: Final = 1 << 16


class Window:
    """Numbers of the last seconds, or the last so many of them.

    A number that a newer one exceeds will never be the largest again, and one above a newer one never the smallest.
    What is left of both kinds is in order, and adding a number takes constant time on average.
    """

    __slots__ = ("_count", "_first", "_largest", "_most", "_seconds", "_smallest", "_times")

    def __init__(self, seconds: float | None, most: int | None) -> None:
        """Look back so many seconds, at so many numbers, or as far as both allow."""
        self._seconds = seconds
        self._most = MOST if most is None else min(most, MOST)
        #: When each number came, those that are looked back on alone; the first of them is the how-manieth.
        self._times: deque[float] = deque()
        self._first = 0
        self._count = 0
        self._largest: deque[tuple[int, float]] = deque()
        self._smallest: deque[tuple[int, float]] = deque()

    def add(self, number: float, now: float) -> None:
        """Take a number in, and forget those that are too old."""
        while self._largest and self._largest[-1][1] <= number:
            self._largest.pop()
        while self._smallest and self._smallest[-1][1] >= number:
            self._smallest.pop()
        self._largest.append((self._count, number))
        self._smallest.append((self._count, number))
        self._times.append(now)
        self._count += 1
        while len(self._times) > self._most or (
            self._seconds is not None and self._times[0] < now - self._seconds and len(self._times) > 1
        ):
            self._times.popleft()
            self._first += 1
        for kept in (self._largest, self._smallest):
            while kept[0][0] < self._first:
                kept.popleft()

    @property
    def spread(self) -> float:
        """The largest number less the smallest."""
        return self._largest[0][1] - self._smallest[0][1]

    def __len__(self) -> int:
        return len(self._times)
