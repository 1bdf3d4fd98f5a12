"""Stock-like prices and the radii that watch them (specs/003 §4, real data)."""

from typing import Final

import numpy as np

from tamis.lab.workloads.draws import Ints
from tamis.lab.workloads.spec import Spec
from tamis.lab.workloads.values import ValueWorkload, arrivals, mixed


class Stocks(Spec[ValueWorkload], frozen=True, kw_only=True):
    """Daily prices whose changes are replayed until there are enough, with the radii of `all-rad`.

    The paper replays five real stocks of 600 to 11,000 days. [ours] Here a history is a geometric random walk
    from `first_price` dollars, of a length drawn evenly from that range. [INF] A replayed price never falls
    below a tick: it stays there until a change takes it up.
    """

    stocks: int = 5
    #: Per stock.
    subscriptions: int = 20_000
    #: Per stock.
    events: int = 50_000
    fewest_days: int = 600
    most_days: int = 11_000
    first_price: float = 50
    volatility: float = 0.02
    ticks: int = 100
    late: float = 0.5

    def draw(self, rng: np.random.Generator) -> ValueWorkload:
        """Return the prices and subscriptions."""
        values = np.stack([self._prices(rng) for _ in range(self.stocks)])
        count = self.stocks * self.subscriptions
        items = np.repeat(np.arange(self.stocks), self.subscriptions)
        radii, _ = mixed(rng, count, self.ticks)
        return ValueWorkload(self, values, items, radii, values[items, 0], arrivals(rng, count, self.late, self.events))

    def _prices(self, rng: np.random.Generator) -> Ints:
        days = rng.integers(self.fewest_days, self.most_days + 1)
        # Without this drift of the logarithm the expected price would grow.
        growth = rng.normal(-(self.volatility**2) / 2, self.volatility, days - 1)
        history = self.first_price * np.exp(np.concatenate([[0.0], np.cumsum(growth)]))
        ticks = np.maximum(1, np.rint(history * self.ticks)).astype(np.int64)
        changes = np.resize(np.diff(ticks), self.events)
        free = ticks[0] + np.concatenate([[0], np.cumsum(changes)])
        return np.asarray(free + np.maximum.accumulate(np.maximum(0, 1 - free)))


STOCKS: Final = Stocks()
