"""What is left of lookup reuse under covering? Figure 3.5 of the thesis (specs/000 §3, Experiment B)."""

from collections.abc import Mapping
from statistics import fmean
from typing import Final, TypeAlias

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.experiments.e000_reuse import SOME, priced
from tamis.lab.reuse import DECIMALS, PASSES, Cost, ReuseTree, Strategy, boxes_and_points, tried
from tamis.lab.workloads import Shen
from tamis.lab.workloads.shen import DENSITIES

STRATEGIES: Final[Mapping[str, Strategy]] = {
    "Never": ("reuse-never", {}),
    **{f"Partial-{keys}": ("reuse-partial", {"keys": keys}) for keys in (20, 40, 60, 80, 100)},
}
DEFAULT: Final = "Partial-20"
#: The thesis: the advantage over Never is about halved, Partial is mostly within 10 % of the best.
HALVED, WITHIN = 0.5, 10.0
#: Brokers, subscriptions, events, densities. The thesis has 10,000 subscriptions; their cover tables take long to fill.
SIZES: Final[dict[Scale, tuple[int, int, int, tuple[float, ...]]]] = {
    Scale.QUICK: (15, 1_000, 30, SOME),
    Scale.FULL: (100, 2_000, 50, DENSITIES),
}
#: Density -> strategy -> what it cost.
Costs: TypeAlias = Mapping[float, Mapping[str, Cost]]
Totals: TypeAlias = Mapping[float, Mapping[str, float]]


def run(context: Context) -> Outcome:
    """Try Never and Partial on a tree with covering and on one without."""
    brokers, subscriptions, events, densities = SIZES[context.scale]
    costs: dict[bool, dict[float, dict[str, Cost]]] = {False: {}, True: {}}
    kept: dict[float, float] = {}
    for done, density in enumerate(densities):
        context.progress(done, len(densities))
        spec = Shen(subscriptions=subscriptions, events=events, distribution="norm-1", density=density)
        boxes, points = boxes_and_points(spec, context.seed)
        for covering, by_density in costs.items():
            tree = ReuseTree(brokers, boxes, "counting", covering)
            by_density[density] = tried(tree, STRATEGIES, points)
            kept[density] = tree.stored()
    context.progress(len(densities), len(densities))
    paper = {covering: _at_paper_prices(by_density) for covering, by_density in costs.items()}
    ours = {covering: _at_our_prices(by_density) for covering, by_density in costs.items()}
    return Outcome(
        rows=[*_rows("thesis' prices", paper), *_rows("our prices", ours)],
        figure=Figure("density, %", "time per event, ms", _series(paper, events), log=True),
        notes=[
            f"{brokers} brokers in the shape of a heap, {subscriptions:,} subscriptions, {events} events, norm-1, by "
            "counting. Prices are as in 000-reuse: those of the thesis' Table 3.1 for our counts of searches and keys, "
            f"and our processor times, each call at its quickest of {PASSES}.",
            f"The ends of the boxes are rounded to {DECIMALS} decimals. Boxes of much the same size in five dimensions "
            "seldom cover each other: a broker keeps "
            + ", ".join(f"{kept[each]:,.0f} at {100 * each:g} %" for each in kept)
            + f" of {subscriptions:,} subscriptions. What covering costs is that no list of keys is ever complete, so "
            "every broker compares events with what its own clients want.",
            "Always-Reuse would lose events under covering and is refused.",
        ],
        tables=[
            _table("With covering, the thesis' prices", paper[True], events),
            _table("Without covering, the thesis' prices", paper[False], events),
            _table("With covering, our prices", ours[True], events),
            _table("Without covering, our prices", ours[False], events),
            _work(costs, events),
        ],
    )


def _at_paper_prices(costs: Costs) -> Totals:
    return {d: {name: sum(priced(cost, d)) for name, cost in found.items()} for d, found in costs.items()}


def _at_our_prices(costs: Costs) -> Totals:
    return {density: {name: cost.total for name, cost in found.items()} for density, found in costs.items()}


def _advantage(totals: Totals, strategy: str) -> float:
    """Return the share of the total of Never that a strategy saves, as a mean over densities."""
    return fmean(1 - found[strategy] / found["Never"] for found in totals.values())


def _rows(name: str, totals: Mapping[bool, Totals]) -> list[Row]:
    covered = totals[True].values()
    partial = [each for each in STRATEGIES if each != "Never"]
    best = [found[DEFAULT] <= 1.001 * min(found[each] for each in partial) for found in covered]
    above = [100 * (found[DEFAULT] / min(found.values()) - 1) for found in covered]
    return [
        Row(f"{name}: share of densities at which {DEFAULT} is the best Partial", fmean(best), 1.0),
        Row(f"{name}: {DEFAULT} above the best, at worst", max(above), WITHIN, "%", "smaller"),
        Row(f"{name}: {DEFAULT} cuts the total by, mean", 100 * _advantage(totals[True], DEFAULT), None, "%"),
        Row(
            f"{name}: advantage over Never with covering / without",
            _advantage(totals[True], DEFAULT) / _advantage(totals[False], DEFAULT),
            HALVED,
            good="order",
        ),
    ]


def _series(totals: Mapping[bool, Totals], events: int) -> list[Series]:
    return [
        Series(
            name,
            [100 * density for density in by_density],
            [1e3 * found[name] / events for found in by_density.values()],
            panel="covering" if covering else "no covering",
        )
        for covering, by_density in totals.items()
        for name in ("Never", DEFAULT, "Partial-60", "Partial-100")
    ]


def _table(title: str, totals: Totals, events: int) -> Table:
    return Table(
        f"{title}: ms per event",
        ["strategy", *(f"{100 * density:g} %" for density in totals)],
        [[name, *(1e3 * found[name] / events for found in totals.values())] for name in STRATEGIES],
    )


def _work(costs: Mapping[bool, Costs], events: int) -> Table:
    return Table(
        "How much work that is, per event",
        ["strategy, density", "covering", "downstream matches", "key lookups", "messages"],
        [
            [
                f"{name}, {100 * density:g} %",
                "yes" if covering else "no",
                *(count / events for count in (cost.downstream_matches, cost.key_lookups, cost.messages)),
            ]
            for density in costs[True]
            for name in ("Never", DEFAULT, "Partial-60")
            for covering, by_density in costs.items()
            for cost in (by_density[density][name],)
        ],
    )


EXPERIMENT: Final = Experiment(
    id="000-reuse-covering",
    title="Reusing lookups under covering",
    source="specs/000 §3, Experiment B (thesis L661-711)",
    setup="As 000-reuse, but subscriptions that others cover are not spread, so that keys do not name all that an "
    "event meets.",
    run=run,
)
