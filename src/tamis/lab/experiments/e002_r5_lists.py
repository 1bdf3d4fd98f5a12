"""How many destinations do events carry in the overlay of 100 brokers? Figure 10.1.10 of the thesis (R5)."""

from collections import Counter
from typing import Final

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Series, Table
from tamis.lab.hundred import RATIO, SIZES, Found, found, notes
from tamis.lab.overlays import DDBR, MERC, mean

#: The mean over all brokers, and the largest mean of one broker.
PAPER: Final = {DDBR: (2.12, 5.0), MERC: (1.18, 1.6)}
BROKERS: Final = 100


def run(context: Context) -> Outcome:
    """Publish on several graphs, and count the lists that brokers send."""
    brokers, _, events, graphs = SIZES[context.scale]
    seeds = range(context.seed, context.seed + graphs)
    lists: dict[str, dict[int, Found]] = {name: {} for name in PAPER}
    points = [(name, context.scale, RATIO, seed, events) for seed in seeds for name in PAPER]
    for (name, _, _, seed, _), each in zip(points, context.each(found, points), strict=True):
        lists[name][seed] = each
    rows: list[Row] = []
    for name, by_seed in lists.items():
        all_mean = sum(mean(Counter(each.lists)) for each in by_seed.values()) / len(by_seed)
        top = sum(max(_by_broker(each)) for each in by_seed.values()) / len(by_seed)
        papers = PAPER[name] if brokers == BROKERS else (None, None)
        rows += [
            Row(f"{brokers} brokers, {name}: destinations in a list", all_mean, papers[0]),
            Row(
                f"{brokers} brokers, {name}: in the lists of the broker with the longest ones",
                top,
                papers[1],
                tolerance=0.2,
            ),
        ]
    interested = [each.interested for by_seed in lists.values() for each in by_seed.values()]
    return Outcome(
        rows=rows,
        figure=Figure(
            "broker, those with the shortest lists first",
            "destinations in a list",
            [
                Series(name, [float(place) for place in range(1, len(means) + 1)], means)
                for name, by_seed in lists.items()
                for means in [_by_broker(by_seed[context.seed])]
            ],
        ),
        notes=[
            *notes(context.scale),
            f"{events} events for each graph, counted in the world by looking at what brokers send; advertisements and "
            "subscriptions are not counted. To a broker belong the lists that it sends and those that it gets.",
            f"Lists depend on how many brokers want an event: here {sum(interested) / len(interested):.0f}. That is "
            "our choice of stocks, fitted once to the mean of D-DBR; that of MERC and what single brokers have follow.",
        ],
        tables=[
            Table(
                "Destinations in a list",
                ["strategy, graph", "mean", "broker with the shortest", "broker with the longest", "longest list"],
                [
                    [
                        f"{name}, {seed}",
                        mean(Counter(each.lists)),
                        min(_by_broker(each)),
                        max(_by_broker(each)),
                        max(each.lists),
                    ]
                    for name, by_seed in lists.items()
                    for seed, each in by_seed.items()
                ],
            )
        ],
    )


def _by_broker(each: Found) -> list[float]:
    """Return the mean of the lists that each broker sent or got, the shortest first."""
    return sorted(mean(Counter(sizes)) for sizes in each.lists_by_broker)


EXPERIMENT: Final = Experiment(
    id="002-R5",
    title="Destination lists of 100 brokers",
    source="specs/002 §9.1 R5, Figure 10.1.10 of the thesis",
    setup="Quotes are published one after the other in the overlays of 002-R4.",
    run=run,
    grid="counted",
)
