"""How long does it truly take until a clock of bounded drift shows so much more? (specs/004 §2, §6.)"""

import math
from typing import Final, Literal, TypeAlias

#: `strict` keeps what the clock model says. `paper` has the factors of the thesis, 1 + drift and 1 - drift: true time
#: can reach 1/(1 - drift), which is more, so that bounds can be wrong by a share of drift² (specs/004 §6, drift rigor).
Mode: TypeAlias = Literal["strict", "paper"]

#: A clock that runs wrong by more than half is none.
WORST_DRIFT: Final = 0.5
#: Readings are rounded: to a tick of the clock, and to what a float keeps of them. The second is more than is lost
#: by reading twice, subtracting, multiplying and adding up, as long as no clock is worse than `WORST_DRIFT`.
TICK: Final = 1e-9
ROUNDING: Final = 2.0**-49


class Rate:
    """What is known of a clock: `(1 - drift)(t - s) <= H(t) - H(s) <= (1 + drift)(t - s)` (thesis §3.2)."""

    __slots__ = ("drift", "least", "mode", "most")

    def __init__(self, drift: float, mode: Mode = "strict") -> None:
        """Take the largest drift, either way; one that is none is a `ValueError`."""
        if not 0 <= drift <= WORST_DRIFT:
            raise ValueError(f"the drift of a clock is from 0 to {WORST_DRIFT}, not {drift}")
        self.drift = drift
        self.mode = mode
        #: True seconds for each second shown, at most and at least.
        self.most = true_seconds(drift, mode)
        self.least = true_seconds(-drift, mode)

    def longest(self, start: float, end: float) -> float:
        """Return how many true seconds lie between two readings at most."""
        return (end - start + (TICK + ROUNDING * (abs(start) + abs(end)))) * self.most

    def shortest(self, start: float, end: float) -> float:
        """Return how many true seconds lie between two readings at least."""
        return max(0.0, (end - start - (TICK + ROUNDING * (abs(start) + abs(end)))) * self.least)


def true_seconds(drift: float, mode: Mode) -> float:
    """Return how many true seconds a second of a clock lasts that is slow by `drift`, or fast if that is negative."""
    return 1 / (1 - drift) if mode == "strict" else 1 + drift


def at_least(sum_of_bounds: float) -> float:
    """Return a sum of upper bounds as an upper bound: rounding may have made it too small."""
    return math.nextafter(sum_of_bounds, math.inf)
