"""How long was a packet on its way? One end of a link bounds it, with clocks that nobody synchronises.

Thesis §6.2, specs/004 §6. A *helper* is an earlier packet in the other direction. Its sender sees by its own clock how
long it took until the answer came; of that, the other end subtracts how long it held the helper, and at least how long
the helper itself was on its way. What is left bounds the answer's delay from above, whatever that delay is: the error
is the uncertainty about the helper, and drift. The same round trip, with the last packet for the helper and its upper
bound, bounds the delay from below, which makes the next packet a better helper.

The delay of a packet is the true time from when its stamp was made until the receiver looked at its clock. What is
lost, late, doubled or overtaken harms nothing: every stamp speaks for itself.

Corrections. Equation 6.9 needs a packet of the other direction (Figure 6.3 is lost). A boot id of the sender alone is
not enough: an end that started anew can get an echo of its former clock's stamps from a neighbour that does not know
yet, so an echo names the life of the end that it is for.
"""

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tamis.healing.rate import WORST_DRIFT, Rate, true_seconds
from tamis.routing.packets import Echo, Life, Stamp

#: No clock shows more seconds than that, and no packet is older.
LARGEST: Final = 1e15


class Helper(NamedTuple):
    """A packet from the other end: when it was sent and received, and at least how long it was on its way."""

    sent: float
    received: float
    least: float


class Last(NamedTuple):
    """A packet from the other end: when it was sent and received, and at most how long it was on its way."""

    sent: float
    received: float
    most: float


class LinkEnd:
    """One end of a link: stamps what is sent, and bounds the delay of what is received.

    In strict mode and between honest ends, the bounds are never wrong as long as both clocks keep to their drift.
    """

    def __init__(self, rate: Rate, lives: Iterator[Life]) -> None:
        """Know nothing of the other end. `lives` yields a life that no end of this broker ever had, each time."""
        self.rate = rate
        self._lives = lives
        self.life = next(lives)
        self._peer: Life | None = None
        self.helper: Helper | None = None
        self.last: Last | None = None

    def reset(self) -> None:
        """Begin a new life: forget everything, and let the other end forget what it knows of this one."""
        self.life = next(self._lives)
        self._forget()

    def _forget(self) -> None:
        self._peer = self.helper = self.last = None

    def send(self, now: float) -> Stamp:
        """Return the stamp of a packet that is sent now."""
        helper, last, peer = self.helper, self.last, self._peer
        echo = None
        if helper is not None and last is not None and peer is not None:
            echo = Echo(
                peer,
                helper.sent,
                self.rate.shortest(helper.received, now),
                helper.least,
                last.sent,
                self.rate.longest(last.received, now),
                last.most if last.most < math.inf else None,
            )
        return Stamp(self.life, self.rate.drift, now, echo)

    def receive(self, stamp: Stamp, now: float, least: float = 0.0) -> tuple[float, float]:
        """Take the stamp of a packet that came; return at least and at most how long the packet was on its way.

        `least` is a lower bound that is known anyway: size/bandwidth. The upper bound is infinite as long as the other
        end has no helper. A stamp that makes no sense gives no bound and changes nothing. Bounds that contradict each
        other say that a clock has jumped: then this end begins a new life.
        """
        if not _is_stamp(stamp):
            return least, math.inf
        if stamp.life != self._peer:
            self._forget()
            self._peer = stamp.life
        lower, upper = self._bounds(stamp.echo, now, least)
        if upper < lower and self.rate.mode == "strict":
            self.reset()
            return least, math.inf
        upper = max(upper, 0.0)
        self._choose(Helper(stamp.sent, now, lower), stamp.drift)
        if upper < math.inf or self.last is None:
            self.last = Last(stamp.sent, now, upper)
        return lower, upper

    def _bounds(self, echo: Echo | None, now: float, least: float) -> tuple[float, float]:
        """Return the bounds that an echo gives: Equations 6.11, 6.9 and 6.10."""
        if not isinstance(echo, Echo) or echo.life != self.life or not _is_echo(echo, now):
            return least, math.inf
        upper = self.rate.longest(echo.helper_sent, now) - echo.held - echo.least
        lower = least
        if echo.most is not None:
            lower = max(least, self.rate.shortest(echo.last_sent, now) - echo.turned - echo.most)
        return lower, upper

    def _choose(self, new: Helper, drift: float) -> None:
        """Keep the helper that will give the smaller upper bound: Equation 6.12. `drift` is the other end's."""
        old = self.helper
        if old is not None:
            older = (new.sent - old.sent) * true_seconds(drift, self.rate.mode) - old.least
            if older < (new.received - old.received) * self.rate.least - new.least:
                return
        self.helper = new

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert (self.helper is None) == (self.last is None) == (self._peer is None)
        assert self.helper is None or 0 <= self.helper.least < math.inf
        assert self.last is None or self.last.most >= 0


def is_between(value: Any, lowest: float, highest: float = LARGEST) -> bool:
    """Say whether something is a number in a range: neither NaN, nor too large for arithmetic."""
    return type(value) in (float, int) and lowest <= value <= highest


def _is_stamp(stamp: Any) -> bool:
    return (
        isinstance(stamp, Stamp)
        and isinstance(stamp.life, tuple)
        and is_between(stamp.drift, 0, WORST_DRIFT)
        and is_between(stamp.sent, -LARGEST)
    )


def _is_echo(echo: Echo, now: float) -> bool:
    """Say whether an echo can be true: nothing was sent in the future, and nothing took less than no time."""
    return (
        is_between(echo.helper_sent, -LARGEST, now)
        and is_between(echo.last_sent, -LARGEST, now)
        and is_between(echo.held, 0)
        and is_between(echo.least, 0)
        and is_between(echo.turned, 0)
        and (echo.most is None or is_between(echo.most, 0))
    )
