"""What do brokers save that reuse lookups? Figures 3.1 to 3.4 of the thesis (specs/000 §3, Experiment A)."""

from collections.abc import Mapping
from math import inf
from statistics import fmean
from typing import Final, Literal, TypeAlias

import numpy as np

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.experiments.e000_match_cost import KEY_LOOKUP, TABLE
from tamis.lab.reuse import DECIMALS, PASSES, SOURCES, Cost, ReuseTree, Strategy, boxes_and_points, tried
from tamis.lab.workloads import Shen
from tamis.lab.workloads.shen import DENSITIES
from tamis.routing.keys import KEY_BYTES

#: Figure 3.1(a): counting, norm-1; seconds by density.
PAPER: Final[Mapping[str, tuple[float, ...]]] = {
    "Never": (4.51, 5.28, 5.71, 6.12, 5.89, 5.47, 5.01, 4.43),
    "Partial-20": (1.95, 2.21, 2.47, 2.80, 3.46, 3.79, 4.10, 4.38),
    "Partial-40": (1.94, 2.17, 2.46, 2.74, 3.45, 3.87, 4.15, 4.56),
    "Partial-60": (1.92, 2.16, 2.41, 2.74, 3.46, 3.89, 4.22, 4.59),
    "Partial-80": (1.91, 2.17, 2.42, 2.75, 3.56, 3.99, 4.26, 4.67),
    "Partial-100": (1.90, 2.14, 2.44, 2.78, 3.60, 4.07, 4.34, 4.73),
    "Always": (1.87, 2.07, 2.54, 3.35, 11.77, 30.00, 62.29, 104.88),
}
#: How far Never, Partial and Always are from the best at worst, from that table.
PAPER_WORST: Final = {"Never": 155.1, "Partial-60": 8.0, "Always": 2294.0}
#: The cut of the total by Partial-60, a mean over densities, from that table.
PAPER_CUT: Final = 39.0
THESIS: Final = "Partial-60"
#: [ours] More keys than the thesis ever sends: what serves best where a key costs little beside a match.
OURS: Final = "Partial-500"
STRATEGIES: Final[Mapping[str, Strategy]] = {
    "Never": ("reuse-never", {}),
    **{f"Partial-{keys}": ("reuse-partial", {"keys": keys}) for keys in (20, 40, 60, 80, 100, 500)},
    "Always": ("reuse-always", {}),
}
ENGINES: Final = {"counting": "counting", "kdtree": "K-d tree"}
#: Table 3.1: what it takes to search 10,000 subscriptions by counting, all of them and until the first match.
_SIZE: Final = 10_000
_WHOLE: Final = TABLE[min(TABLE)]["counting"]
_EXISTENCE: Final = [prices["counting"] for prices in TABLE.values()]
#: The densities up to which reuse must save most.
LOW: Final = 0.05

Distribution: TypeAlias = Literal["norm-1", "norm-2", "uniform"]
#: Four of the densities, for the distributions of which no table survives.
SOME: Final = (0.001, 0.01, 0.05, 0.2)
#: Brokers, subscriptions, events, and densities by distribution. The thesis has 1,000 events.
SIZES: Final[dict[Scale, tuple[int, int, int, Mapping[Distribution, tuple[float, ...]]]]] = {
    Scale.QUICK: (31, 3_000, 20, {"norm-1": SOME}),
    Scale.FULL: (100, 10_000, 50, {"norm-1": DENSITIES, "norm-2": SOME, "uniform": SOME}),
}
#: Distribution and engine -> density -> strategy -> what it cost.
Costs: TypeAlias = Mapping[tuple[str, str], Mapping[float, Mapping[str, Cost]]]


def run(context: Context) -> Outcome:
    """Try every strategy on the same tree, for every distribution, density and index."""
    brokers, subscriptions, events, densities = SIZES[context.scale]
    costs: dict[tuple[str, str], dict[float, dict[str, Cost]]] = {}
    points = [
        (
            Shen(subscriptions=subscriptions, events=events, distribution=each, density=density),
            engine,
            brokers,
            context.seed,
        )
        for each in densities
        for engine in ENGINES
        for density in densities[each]
    ]
    for (spec, engine, *_), found in zip(points, context.each(_tried, points), strict=True):
        costs.setdefault((spec.distribution, engine), {})[spec.density] = found
    return Outcome(
        rows=_rows(costs),
        figure=Figure("density, %", "time per event, ms", _series(costs, events), log=True),
        notes=[
            f"{brokers} brokers in the shape of a heap, {subscriptions:,} subscriptions spread evenly, {events} events "
            f"published at {SOURCES} brokers all over the tree (the thesis: 100, 10,000, and 1,000 at all).",
            "Our prices are processor times of one thread in brokers alone, set-up excluded; each call is done "
            f"{PASSES} times and its quickest time counts. All strategies are tried on the same tables and deliver the "
            "same events.",
            "The thesis' prices are our counts of searches and keys at the prices of its Table 3.1, for counting: "
            f"{_WHOLE:g} µs to search 10,000 subscriptions and less in proportion, but no more than the price of an "
            f"existence match at that density where a search may stop early; {KEY_LOOKUP:g} µs for a key.",
            "[ours] How a search's price falls with the size of the index is not in the thesis. Its total for "
            "Never-Reuse came out 9 to 30 % too low so with 100 brokers and 10,000 subscriptions; ratios to Never "
            "depend on the size of the tree, since in a small one the first broker's search weighs more.",
            f"The ends of the boxes are rounded to {DECIMALS} decimals, so that subscriptions share predicates.",
            "A match is the search of one index, that of local clients included; a lookup is that of one key, counted "
            "once however many links a broker has.",
            *_own_prices(costs),
            "[ours] A broker compares an event with the condition of its own client that a key names, because another "
            "subscription may have the same key; the thesis supposes that none has. Where keys name several, it "
            "searches the index of its clients instead: so others than the first broker compare with Always-Reuse too.",
            f"{OURS} is ours, and what `reuse-partial` does if not told otherwise: about as many keys as a match costs "
            "here. It was chosen by this experiment. At the thesis' prices a match costs far fewer keys where few "
            "subscriptions are compared, and 40 to 60 keys serve best.",
        ],
        tables=[
            *(_at_paper_prices(distribution, by_density, events) for distribution, by_density in _counting(costs)),
            *(_totals(*key, by_density, events) for key, by_density in costs.items()),
            *(_parts(*key, by_density, events) for key, by_density in costs.items()),
        ],
    )


# --- prices --------------------------------------------------------------------------------------------------


def _tried(spec: Shen, engine: str, brokers: int, seed: int) -> dict[str, Cost]:
    boxes, points = boxes_and_points(spec, seed)
    return tried(ReuseTree(brokers, boxes, engine), STRATEGIES, points)


def priced(cost: Cost, density: float, all_matches: bool = False) -> tuple[float, float, float]:
    """Return source match, downstream match and lookup at the thesis' prices for counting, in seconds."""
    most = inf if all_matches else float(np.interp(np.log(density), np.log(list(TABLE)), _EXISTENCE))
    source, downstream = (
        1e-6 * sum(count * min(_WHOLE * size / _SIZE, most) for size, count in sizes.items())
        for sizes in (cost.source_sizes, cost.downstream_sizes)
    )
    return source, downstream, 1e-6 * KEY_LOOKUP * cost.key_lookups


def _priced(found: Mapping[str, Cost], density: float) -> dict[str, tuple[float, float, float]]:
    return {name: priced(cost, density, name == "Always") for name, cost in found.items()}


def _own_prices(costs: Costs) -> list[str]:
    """Say what a match and a key cost here, beside the thesis."""
    said = []
    for engine in ENGINES:
        by_density = costs["norm-1", engine]
        most = max(by_density)
        never, always = by_density[most]["Never"], by_density[most]["Always"]
        match = 1e6 * never.downstream_match / never.downstream_matches
        key = 1e6 * always.lookup / always.key_lookups
        paper = TABLE[min(TABLE)][engine] / KEY_LOOKUP
        said.append(
            f"Ours by {ENGINES[engine]} at {most:.0%}: {match:.0f} µs for a downstream match, whatever its size, for "
            f"most of it is the way to the kernel and back; {key:.2f} µs for a key, looked up in compiled code: "
            f"{match / key:,.0f} keys for a match. The thesis: {paper:,.0f} with 10,000 subscriptions, less with fewer."
        )
    return said


# --- what comes of it ----------------------------------------------------------------------------------------


def _above_best(totals: Mapping[str, float], strategy: str) -> float:
    """Return by how many per cent a strategy is above the best one for the same input."""
    return 100 * (totals[strategy] / min(totals.values()) - 1)


def _counting(costs: Costs) -> list[tuple[str, Mapping[float, Mapping[str, Cost]]]]:
    return [(distribution, found) for (distribution, engine), found in costs.items() if engine == "counting"]


def _rows(costs: Costs) -> list[Row]:
    rows: list[Row] = []
    for distribution, by_density in _counting(costs):
        parts = {density: _priced(found, density) for density, found in by_density.items()}
        totals = {density: {name: sum(each) for name, each in found.items()} for density, found in parts.items()}
        downstream = {
            density: {name: sum(each[1:]) for name, each in found.items()} for density, found in parts.items()
        }
        rows += _claims(f"{distribution}, thesis' prices", totals, downstream, distribution == "norm-1")
        if distribution == "norm-1":
            rows += [
                Row(
                    f"{distribution}, thesis' prices, {100 * density:g} %: {name} / Never",
                    found[name] / found["Never"],
                    PAPER[name][DENSITIES.index(density)] / PAPER["Never"][DENSITIES.index(density)],
                    good="order",
                )
                for name in (THESIS, "Always")
                for density, found in totals.items()
            ]
    for (distribution, engine), by_density in costs.items():
        totals = {density: {name: each.total for name, each in found.items()} for density, found in by_density.items()}
        downstream = {d: {name: each.downstream for name, each in found.items()} for d, found in by_density.items()}
        rows += _claims(f"{distribution}, {ENGINES[engine]}, our prices", totals, downstream, False)
    return rows


def _claims(
    name: str,
    totals: Mapping[float, Mapping[str, float]],
    downstream: Mapping[float, Mapping[str, float]],
    in_paper: bool,
) -> list[Row]:
    rows = []
    for partial in (THESIS, OURS):
        saved = fmean(1 - found[partial] / found["Never"] for found in totals.values())
        low = min(1 - found[partial] / found["Never"] for density, found in downstream.items() if density <= LOW)
        paper = PAPER_CUT if in_paper and partial == THESIS else None
        rows += [
            Row(f"{name}: {partial} cuts the total by, mean", 100 * saved, paper, "%", "larger"),
            Row(f"{name}: {partial} cuts downstream cost up to {LOW:.0%}, least", 100 * low, None, "%"),
        ]
    return [
        *rows,
        *(
            Row(
                f"{name}: {each} above the best, at worst",
                max(_above_best(found, each) for found in totals.values()),
                PAPER_WORST.get(each) if in_paper else None,
                "%",
                "smaller",
            )
            for each in ("Never", THESIS, OURS, "Always")
        ),
    ]


def _series(costs: Costs, events: int) -> list[Series]:
    names = ("Never", "Partial-20", THESIS, OURS, "Always")
    panels: dict[str, dict[float, dict[str, float]]] = {
        "thesis' prices, counting": {
            density: {name: sum(each) for name, each in _priced(found, density).items()}
            for density, found in costs["norm-1", "counting"].items()
        },
    }
    for engine, title in ENGINES.items():
        panels[f"our prices, {title}"] = {
            density: {name: each.total for name, each in found.items()}
            for density, found in costs["norm-1", engine].items()
        }
    return [
        Series(
            name,
            [100 * density for density in totals],
            [1e3 * found[name] / events for found in totals.values()],
            panel=panel,
        )
        for panel, totals in panels.items()
        for name in names
    ]


def _table(title: str, totals: Mapping[float, Mapping[str, float]], events: int) -> Table:
    return Table(
        f"{title}: ms per event (per cent above the best)",
        ["strategy", *(f"{100 * density:g} %" for density in totals)],
        [
            [name, *(f"{1e3 * f[name] / events:.3g} ({_above_best(f, name):.0f})" for f in totals.values())]
            for name in STRATEGIES
        ],
    )


def _at_paper_prices(distribution: str, by_density: Mapping[float, Mapping[str, Cost]], events: int) -> Table:
    totals = {d: {name: sum(each) for name, each in _priced(found, d).items()} for d, found in by_density.items()}
    return _table(f"{distribution}, counting, the thesis' prices", totals, events)


def _totals(distribution: str, engine: str, by_density: Mapping[float, Mapping[str, Cost]], events: int) -> Table:
    totals = {d: {name: cost.total for name, cost in found.items()} for d, found in by_density.items()}
    return _table(f"{distribution}, {ENGINES[engine]}, our prices", totals, events)


def _parts(distribution: str, engine: str, by_density: Mapping[float, Mapping[str, Cost]], events: int) -> Table:
    return Table(
        f"{distribution}, {ENGINES[engine]}: where our time goes, and how much work that is, per event",
        [
            "strategy, density",
            "source match, ms",
            "downstream match, ms",
            "lookup, ms",
            "rest, ms",
            "source matches",
            "downstream matches",
            "key lookups",
            "messages",
            "bytes of keys",
        ],
        [
            [
                f"{name}, {100 * density:g} %",
                *(1e3 * part / events for part in (cost.source_match, cost.downstream_match, cost.lookup, cost.rest)),
                *(count / events for count in (cost.source_matches, cost.downstream_matches, cost.key_lookups)),
                cost.messages / events,
                KEY_BYTES * cost.keys / events,
            ]
            for density, found in by_density.items()
            for name, cost in found.items()
            if name in ("Never", THESIS, OURS, "Always")
        ],
    )


EXPERIMENT: Final = Experiment(
    id="000-reuse",
    title="Reusing lookups",
    source="specs/000 §3, Experiment A (thesis L551-659)",
    setup="Boxes of five attributes at the brokers of a tree; what brokers take in all to route events, comparing them "
    "everywhere, at the first broker only, or where the keys that came along do not help.",
    run=run,
    grid="timed",
)
