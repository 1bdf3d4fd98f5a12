"""A broker's own clock: it starts anywhere and runs a little too fast or too slow."""

from collections.abc import Iterable
from random import Random

import msgspec

from tamis.routing.packets import Name


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """Shows `offset + (1 + drift) * t` at true time t. A drift of 1e-4 is 100 ppm (specs/004 §2)."""

    offset: float = 0.0
    drift: float = 0.0

    def __post_init__(self) -> None:
        if self.drift <= -1:
            raise ValueError(f"a clock runs forwards: drift {self.drift} is not above -1")

    def shown(self, time: float) -> float:
        """Return what the clock shows at a true time."""
        return self.offset + (1 + self.drift) * time

    def stepped(self, by: float) -> "Clock":
        """Return a clock that shows so many seconds more."""
        return Clock(offset=self.offset + by, drift=self.drift)

    def lasts(self, shown: float) -> float:
        """Return how long it truly takes until the clock shows so many seconds more."""
        return shown / (1 + self.drift)


def random_clocks(brokers: Iterable[Name], drift: float, offset: float = 0.0, seed: int = 0) -> dict[Name, Clock]:
    """Return a clock for each broker, wrong by at most this drift and offset, either way."""
    random = Random(seed)  # noqa: S311 - a simulation, to be repeated
    return {
        broker: Clock(drift=random.uniform(-drift, drift), offset=random.uniform(-offset, offset)) for broker in brokers
    }
