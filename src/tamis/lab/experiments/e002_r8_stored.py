"""How many subscriptions does a broker keep? Figure 10.1.12 of the thesis (R8)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Series, Table
from tamis.lab.hundred import RATIO, SIZES, Found, found, notes, spread
from tamis.lab.overlays import DDBR, FBR, MERC, STRATEGIES

PAPER: Final = {FBR: 5_005, DDBR: 1_800, MERC: 1_945}
BROKERS: Final = 100


def run(context: Context) -> Outcome:
    """Count what brokers keep on several graphs."""
    brokers, *_, graphs = SIZES[context.scale]
    seeds = range(context.seed, context.seed + graphs)
    kept: dict[str, dict[int, Found]] = {name: {} for name in STRATEGIES}
    points = [(name, context.scale, RATIO, seed) for seed in seeds for name in STRATEGIES]
    for (name, _, _, seed), each in zip(points, context.each(found, points), strict=True):
        kept[name][seed] = each
    means = {name: {seed: each.stored_mean for seed, each in by_seed.items()} for name, by_seed in kept.items()}
    return Outcome(
        rows=[
            Row(
                f"{brokers} brokers, {RATIO:.0%}: subscriptions kept by a broker, {name}",
                sum(by_seed.values()) / len(by_seed),
                PAPER[name] if brokers == BROKERS else None,
                tolerance=0.1,
            )
            for name, by_seed in means.items()
        ],
        figure=Figure(
            "broker, those that keep least first",
            "subscriptions kept",
            [
                Series(
                    name,
                    [float(place) for place in range(1, brokers + 1)],
                    [float(each) for each in sorted(by_seed[context.seed].stored)],
                )
                for name, by_seed in kept.items()
            ],
        ),
        notes=[
            *notes(context.scale),
            "Counted in the brokers of the strategies themselves, a client's own subscription at its home included. "
            "FBR keeps a subscription once for each matching advertisement at every broker on the way: 60 times the "
            "mean distance. D-DBR keeps it at its home and at the matching publishers' brokers. MERC keeps it at edge "
            "brokers as well.",
            "Over the graphs: " + "; ".join(f"{name} {spread(by_seed)}" for name, by_seed in means.items()) + ".",
        ],
        tables=[
            Table(
                "Subscriptions kept by a broker",
                ["strategy, graph", "mean", "least", "most"],
                [
                    [f"{name}, {seed}", each.stored_mean, min(each.stored), max(each.stored)]
                    for name, by_seed in kept.items()
                    for seed, each in by_seed.items()
                ],
            )
        ],
    )


EXPERIMENT: Final = Experiment(
    id="002-R8",
    title="Subscriptions kept by a broker",
    source="specs/002 §9.1 R8, Figure 10.1.12 of the thesis",
    setup="Of all brokers, 60 % advertise what a subscription asks for.",
    run=run,
    grid="counted",
)
