"""How often is an event matched on a line of brokers, and how long does it take? Figures 10.1.1 to 10.1.4 (R1)."""

from collections.abc import Mapping
from statistics import fmean
from typing import Final, TypeAlias

import networkx as nx

from tamis.lab.effort import MODEL, BusyOverlay, Load, steady
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.overlays import DDBR, FBR, MERC, STRATEGIES
from tamis.lab.quotes import SUBSCRIBERS, on_line
from tamis.routing.packets import Name
from tamis.simulation import topology

#: Events a second: 3,000 in a minute.
RATE: Final = 50.0
SHARES_AT: Final = 2_000
#: Brokers, subscriptions, and seconds for which events are published.
SIZES: Final[dict[Scale, tuple[tuple[int, ...], tuple[int, ...], float]]] = {
    Scale.QUICK: ((1, 4, 10), (100, 800), 1.0),
    Scale.FULL: (tuple(range(1, 11)), (100, 800, 2_000), 6.0),
}
#: Strategy -> subscriptions -> brokers -> what came of it.
Loads: TypeAlias = Mapping[str, Mapping[int, Mapping[int, Load]]]


def split_line(brokers: int) -> "nx.Graph[Name]":
    """Return a line whose middle broker is the edge broker of two clusters; with two brokers there is but one."""
    graph = topology("line", brokers)
    middle = brokers // 2
    halves = [list(range(middle + 1)), list(range(middle, brokers))]
    graph.graph["clusters"] = [half for half in halves if len(half) > 1] if brokers > 2 else [list(range(brokers))]
    return graph


def run(context: Context) -> Outcome:
    """Publish at the head of lines of every length, with every number of subscriptions."""
    lengths, numbers, seconds = SIZES[context.scale]
    loads: dict[str, dict[int, dict[int, Load]]] = {name: {number: {} for number in numbers} for name in STRATEGIES}
    points = [
        (name, number, length, seconds, context.seed) for name in STRATEGIES for number in numbers for length in lengths
    ]
    for (name, number, length, *_), load in zip(points, context.each(_load, points), strict=True):
        loads[name][number][length] = load
    return Outcome(
        rows=_rows(loads, max(lengths), max(numbers)),
        figure=Figure(
            "brokers",
            "latency, ms",
            [
                Series(
                    name,
                    [float(each) for each in by_length],
                    [1e3 * each.latency for each in by_length.values()],
                    f"{number:,} subscriptions",
                )
                for number in numbers
                for name in STRATEGIES
                for by_length in [loads[name][number]]
            ],
        ),
        notes=[
            f"A publisher at the head sends {60 * RATE:,.0f} quotes a minute, one every {1e3 / RATE:.0f} ms, for "
            f"{seconds:g} s of virtual time; {SUBSCRIBERS} subscribers at the tail, at least one of whom wants each. "
            "MERC: two clusters share the middle broker.",
            "Matches are counted in the world. With one broker there is one match, with two there are two.",
            MODEL,
            "The longer the line, the more of the time goes to links and to brokers that only pass on, and the less "
            "the third match of MERC weighs.",
            "So the shares of D-DBR and FBR are what the constants were taken from, and no result; latencies and the "
            "shares of MERC follow.",
        ],
        tables=[_latencies(loads), _shares(loads, max(lengths), max(numbers))],
    )


def _load(name: str, number: int, length: int, seconds: float, seed: int) -> Load:
    net = BusyOverlay(name, split_line(length), on_line(length, number, seed))
    return net.load(seed, steady(RATE, seconds))


def _rows(loads: Loads, length: int, number: int) -> list[Row]:
    at_end = {name: by_number[number][length] for name, by_number in loads.items()}
    matches = {FBR: float(length), DDBR: 2.0, MERC: 3.0}
    middle = length // 2
    inside = [broker for broker in range(1, length - 1) if broker != middle]
    what = f"{length} brokers, {number:,} subscriptions"
    # The thesis has these shares for 2,000 subscriptions alone.
    all_of, most, little = (63.0, 60.0, 2.0) if number == SHARES_AT else (None, None, None)
    merc, ddbr = loads[MERC][number], loads[DDBR][number]
    quotients = [merc[each].latency / ddbr[each].latency for each in merc if each > 2]
    ends = {name: (load.shares[0], load.shares[length - 1]) for name, load in at_end.items()}
    return [
        *(
            Row(f"{length} brokers: matches per event, {name}", load.matches, matches[name], good="exact")
            for name, load in at_end.items()
        ),
        Row(f"{what}: latency of MERC / D-DBR", at_end[MERC].latency / at_end[DDBR].latency, 1.5, tolerance=0.1),
        Row(
            f"{number:,} subscriptions, 3 brokers or more: latency of MERC / D-DBR, mean",
            fmean(quotients),
            1.5,
            tolerance=0.1,
        ),
        Row(f"{what}: latency of FBR / D-DBR", at_end[FBR].latency / at_end[DDBR].latency),
        Row(f"{what}: FBR, busiest broker (modelled)", max(at_end[FBR].shares.values()), all_of, "%"),
        Row(f"{what}: D-DBR, less busy end (modelled)", min(ends[DDBR]), most, "%", tolerance=0.1),
        Row(f"{what}: D-DBR, inner brokers (modelled)", max(at_end[DDBR].shares[each] for each in inside), little, "%"),
        Row(f"{what}: MERC, less busy end (modelled)", min(ends[MERC]), most, "%", tolerance=0.1),
        Row(f"{what}: MERC, middle broker (modelled)", at_end[MERC].shares[middle], most, "%", tolerance=0.1),
    ]


def _latencies(loads: Loads) -> Table:
    return Table(
        "Latency and matches",
        ["subscriptions", "brokers", *(f"{name}, {what}" for what in ("ms", "matches") for name in loads)],
        [
            [
                f"{number:,}",
                length,
                *(1e3 * by_number[number][length].latency for by_number in loads.values()),
                *(by_number[number][length].matches for by_number in loads.values()),
            ]
            for number, by_length in loads[FBR].items()
            for length in by_length
        ],
    )


def _shares(loads: Loads, length: int, number: int) -> Table:
    return Table(
        f"Busy, % of the time (modelled): {length} brokers, {number:,} subscriptions",
        ["broker", *loads],
        [
            [str(broker + 1), *(by_number[number][length].shares[broker] for by_number in loads.values())]
            for broker in range(length)
        ],
    )


EXPERIMENT: Final = Experiment(
    id="002-R1",
    title="A line of brokers",
    source="specs/002 §9.1 R1, Figures 10.1.1 to 10.1.4 of the thesis",
    setup="Brokers in a line, a publisher at the head, subscribers at the tail; the time brokers take is modelled.",
    run=run,
    grid="counted",
)
