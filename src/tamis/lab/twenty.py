"""The overlay of 20 brokers with subscriptions by one law or the other (specs/002 §9.1, R2 and R3)."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from tamis.lab.effort import MODEL, BusyOverlay, Load, poisson
from tamis.lab.experiment import Context, Scale, Series, Table
from tamis.lab.overlays import DDBR, FBR, plain
from tamis.lab.quotes import EXPONENT, Law, scattered

BROKERS: Final = 20
DEGREE: Final = 3.0
SUBSCRIBERS: Final = 30
#: [ours] Quotes a second of all 20 publishers together; the thesis does not say. Fitted: of 2, 10 and 20, the one with
#: which FBR has a broker that is about as busy as the thesis' broker 4.
RATE: Final = 10.0
#: Subscriptions of each subscriber, and seconds of virtual time. The thesis: 100 to 800, for five minutes.
SIZES: Final[dict[Scale, tuple[tuple[int, ...], float]]] = {
    Scale.QUICK: ((10, 40), 3.0),
    Scale.FULL: ((100, 400, 800), 30.0),
}
#: The two that the thesis compares here.
COMPARED: Final = (FBR, DDBR)
#: Law -> strategy -> subscriptions of each subscriber -> what came of it.
Loads = dict[Law, dict[str, dict[int, Load]]]


def compared(laws: Sequence[Law], context: Context) -> Loads:
    """Publish the same quotes to the same subscribers by both strategies."""
    numbers, seconds = SIZES[context.scale]
    loads: Loads = {law: {name: {} for name in COMPARED} for law in laws}
    points = [(law, number, name, seconds, context.seed) for law in laws for number in numbers for name in COMPARED]
    for (law, number, name, *_), load in zip(points, context.each(_load, points), strict=True):
        loads[law][name][number] = load
    return loads


@cache
def _load(law: Law, number: int, name: str, seconds: float, seed: int) -> Load:
    """Publish quotes by one strategy; what came of it once is remembered."""
    net = BusyOverlay(name, plain(BROKERS, DEGREE, seed), scattered(BROKERS, SUBSCRIBERS, number, law, seed))
    return net.load(seed, poisson(RATE, seconds, seed))


def notes(scale: Scale) -> list[str]:
    """Say what was done."""
    return [
        f"{BROKERS} brokers with a mean degree of {DEGREE:g}, a publisher at each, {SUBSCRIBERS} subscribers by "
        f"chance. [ours] Each publisher has five stocks, 100 in all; a subscription asks for one of them above a "
        f"price, by Zipf's law with exponent {EXPONENT:g} or evenly. {60 * RATE:,.0f} quotes a minute in all, by "
        f"chance, for {SIZES[scale][1]:g} s of virtual time. The thesis ran for "
        "5 minutes and does not give its rate: of 2, 10 and 20 quotes a second, this is the one with which FBR has a "
        "broker about as busy as the thesis' broker 4.",
        MODEL,
        "D-DBR is run without self-organisation: the overlay stays as it is.",
    ]


def series(loads: Loads) -> list[Series]:
    """Return latencies against subscriptions."""
    return [
        Series(
            f"{name}, {law}", [float(each) for each in by_number], [1e3 * each.latency for each in by_number.values()]
        )
        for law, by_name in loads.items()
        for name, by_number in by_name.items()
    ]


def table(loads: Loads) -> Table:
    """Return everything that came of it."""
    return Table(
        "Latency, and the broker with most to do (modelled)",
        ["law, strategy", "subscriptions each", "mean, ms", "99 %, ms", "matches per event", "busiest, %"],
        [
            [
                f"{law}, {name}",
                number,
                1e3 * load.latency,
                1e3 * load.latency_99,
                load.matches,
                max(load.shares.values()),
            ]
            for law, by_name in loads.items()
            for name, by_number in by_name.items()
            for number, load in by_number.items()
        ],
    )
