"""How long something takes, counted in classes."""

from bisect import bisect_left
from typing import Final

#: Upper bounds of the classes, in seconds; above the last there is one more.
BOUNDS: Final = (1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 1e-1, 1.0)


class Latency:
    """A histogram."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Return for each bound how many took at most so long, as Prometheus has it."""
        made: list[tuple[str, float]] = []
        done = 0
        for bound, count in zip([*BOUNDS, float("inf")], self.counts, strict=True):
            done += count
            made.append(("+Inf" if bound == float("inf") else repr(bound), float(done)))
        return made
