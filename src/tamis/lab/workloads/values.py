"""A changing value and the radii that watch it (specs/003 §4)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import numpy as np
import pyarrow as pa

from tamis.lab.workloads.draws import Floats, Ints, truncated_normal
from tamis.lab.workloads.spec import Spec

#: Mean, standard deviation, least and greatest radius of `diff-rad`, and of the `all-rad` radii in dollars.
DIFFERENT_RADII: Final = (25_000, 50_000, 1, 200_000)
DOLLAR_RADII: Final = (20, 20, 0.5, 100)
#: The others of `all-rad`, in cents: their share, and the greatest of them.
CENT_SHARE: Final = 0.1
MOST_CENTS: Final = 100_00
#: The radius of `same-rad`; [INF] the standard deviation of its centres, which is known to lie in 5,000 to 17,000.
SAME_RADIUS: Final = 51_000
CENTRE_DEVIATION: Final = 10_000


@dataclass(frozen=True, eq=False)
class ValueWorkload:
    """Updates of some data items and the subscriptions to them. All values are whole ticks.

    `values[i]` are the values of item i: the one at the start, then one for each update. A subscription watches
    one of the `items` with one of the `radii`. It comes just before update number `arrivals` and is told the
    value of that moment; with 0 it is there from the start, and `centres` is what it was told last.
    """

    spec: Spec[Any]
    values: Ints
    items: Ints
    radii: Ints
    centres: Ints
    arrivals: Ints

    def __len__(self) -> int:
        return len(self.radii)

    def updates(self) -> pa.Table:
        """Return the updates with columns `item`, `update` and `value`, in the order of their time."""
        items, updates = self.values.shape
        return pa.table(
            {
                "item": np.tile(np.arange(items), updates),
                "update": np.repeat(np.arange(updates), items),
                "value": self.values.T.ravel(),
            }
        )

    def subscriptions(self) -> pa.Table:
        """Return the subscriptions with columns `item`, `radius`, `centre` and `arrival`."""
        columns = {"item": self.items, "radius": self.radii, "centre": self.centres, "arrival": self.arrivals}
        return pa.table(columns)


class Autoregression(Spec[ValueWorkload], frozen=True, kw_only=True):
    """One item that follows U_i = drift + phi * U_(i-1) + N(0, deviation), with one of the three cases of radii.

    `diff-rad`: radii by the normal law cut to [1, 200,000], on a grid of a quarter, each kept once; all centres
    equal. `same-rad`: one radius, centres by the normal law round the first value, cut at half the radius so
    that they span less than it. `all-rad`: a tenth of the radii uniform on cents up to $100, the others by
    the normal law on whole dollars, none zero. [INF] The grid, the start at 0 and the law of centres were
    fitted to the paper's tables. `late` of the subscriptions come at random times.
    """

    GRID: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "subscriptions": (5_000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 80_000, 100_000),
    }

    case: Literal["diff-rad", "same-rad", "all-rad"]
    subscriptions: int
    drift: float
    deviation: float
    phi: float = 1
    events: int = 100_000
    #: Ticks in a unit of the series; for `all-rad`, whose series counts ticks, in a dollar of the radii.
    ticks: int
    late: float = 0

    def draw(self, rng: np.random.Generator) -> ValueWorkload:
        """Return the updates and subscriptions."""
        steps = rng.normal(self.drift, self.deviation, self.events)
        series = np.cumsum(steps) if self.phi == 1 else _recursive(steps, self.phi)
        scale = 1 if self.case == "all-rad" else self.ticks
        values = np.rint(np.concatenate([[0.0], series]) * scale).astype(np.int64)
        radii, centres = _CASES[self.case](rng, self.subscriptions, self.ticks)
        return ValueWorkload(
            self,
            values[None, :],
            np.zeros(len(radii), dtype=np.int64),
            radii,
            centres,
            arrivals(rng, len(radii), self.late, self.events),
        )


def _recursive(steps: Floats, phi: float) -> Floats:
    series = np.empty_like(steps)
    value = 0.0
    for place, step in enumerate(steps.tolist()):
        value = phi * value + step
        series[place] = value
    return series


def arrivals(rng: np.random.Generator, count: int, late: float, events: int) -> Ints:
    """Draw when subscriptions come: a share of them before a random update, the others at the start."""
    return np.where(rng.random(count) < late, rng.integers(1, events + 1, size=count), 0)


def different(rng: np.random.Generator, count: int, ticks: int) -> tuple[Ints, Ints]:
    """Draw the radii of `diff-rad`, ascending; fewer than `count`, because each is kept once."""
    drawn = np.rint(truncated_normal(rng, *DIFFERENT_RADII, count) * ticks)
    radii = np.unique(drawn.astype(np.int64))
    return radii, np.zeros_like(radii)


def same(rng: np.random.Generator, count: int, ticks: int) -> tuple[Ints, Ints]:
    """Draw the centres of `same-rad`."""
    furthest = SAME_RADIUS / 2 - 1
    centres = truncated_normal(rng, 0, CENTRE_DEVIATION, -furthest, furthest, count)
    return np.full(count, SAME_RADIUS * ticks), np.rint(centres * ticks).astype(np.int64)


def mixed(rng: np.random.Generator, count: int, ticks: int) -> tuple[Ints, Ints]:
    """Draw the radii of `all-rad`, whatever `ticks` there are in a dollar."""
    cents = rng.integers(1, MOST_CENTS + 1, size=count) * ticks // 100
    dollars = np.rint(truncated_normal(rng, *DOLLAR_RADII, count)).astype(np.int64) * ticks
    radii = np.maximum(1, np.where(rng.random(count) < CENT_SHARE, cents, dollars))
    return radii, np.zeros_like(radii)


_CASES: Final[dict[str, Callable[[np.random.Generator, int, int], tuple[Ints, Ints]]]] = {
    "diff-rad": different,
    "same-rad": same,
    "all-rad": mixed,
}

DIFF_RAD: Final = Autoregression(case="diff-rad", subscriptions=20_000, drift=400, deviation=1_000, ticks=4)
SAME_RAD: Final = Autoregression(case="same-rad", subscriptions=10_000, drift=500, deviation=800, ticks=1)
#: [INF] The paper does not say how many ticks a dollar has; 100 and 1,000 are to be tried.
ALL_RAD: Final = Autoregression(
    case="all-rad", subscriptions=20_000, drift=500, deviation=800, events=5_000, ticks=100, late=0.5
)
