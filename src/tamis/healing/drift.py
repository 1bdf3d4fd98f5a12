"""How fast does a clock run? Compared with a reference from time to time (thesis §9.3.1, specs/004 §6).

The reference is asked over a network, as SNTP does, so what it said is known up to half a round trip. Over an hour
that is little: 10 ms are 2.8 ppm.
"""

import msgspec


class Reading(msgspec.Struct, frozen=True):
    """What a clock and a reference showed at the same time; the reference is wrong by at most `error` seconds."""

    shown: float
    reference: float
    error: float = 0.0

    @classmethod
    def asked(cls, sent: float, said: float, received: float) -> "Reading":
        """Return what one question tells: sent and received by the clock, answered by the reference in between."""
        return cls((sent + received) / 2, said, (received - sent) / 2)


class Drift(msgspec.Struct, frozen=True):
    """How much faster a clock runs than true time, in parts per million, and how far that can be wrong."""

    ppm: float
    error: float

    @property
    def bound(self) -> float:
        """The clock runs wrong by no more than that: what `Ages.drift` has to be, as a share."""
        return (abs(self.ppm) + self.error) / 1e6


def drift(first: Reading, second: Reading) -> Drift:
    """Return how much a clock drifted between two readings: `(ΔH/Δref - 1)` in ppm. They are apart in time."""
    passed = second.reference - first.reference
    error = first.error + second.error
    if not passed > error:
        raise ValueError(f"the readings are {passed} s apart, which is within their error of {error} s")
    shown = second.shown - first.shown
    # The true time that passed lies between passed - error and passed + error.
    fastest, slowest = shown / (passed - error), shown / (passed + error)
    ppm = shown / passed - 1
    return Drift(ppm * 1e6, max(fastest - 1 - ppm, ppm - (slowest - 1)) * 1e6)
