"""How much can 100 brokers take, and how long do events take then? Figure 10.1.9 of the thesis (R4)."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from tamis.lab.effort import MODEL, BusyOverlay, Load, poisson
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.hundred import RATIO, SIZES, graph_of, notes
from tamis.lab.overlays import DDBR, FBR, MERC, edges
from tamis.lab.quotes import hundred

#: MERC with edge brokers that are as fast as the others. In the thesis they have 8 processors, we make them 8 times as
#: fast.
EQUAL: Final = "MERC, edge brokers as others"
FASTER: Final = 8.0
#: Events a minute for each strategy, and seconds of virtual time.
RATES: Final[dict[Scale, tuple[Mapping[str, tuple[int, ...]], float]]] = {
    Scale.QUICK: ({FBR: (2_000,), DDBR: (2_000,), MERC: (2_000,), EQUAL: (2_000,)}, 2.0),
    Scale.FULL: (
        {
            FBR: (500, 1_000, 1_500, 2_000, 2_500),
            DDBR: (500, 2_000, 8_000, 14_000),
            MERC: (500, 2_000, 8_000, 11_000),
            EQUAL: (500, 2_000, 5_000),
        },
        12.0,
    ),
}
BROKERS: Final = 100
#: Latencies in ms at some events a minute.
PAPER: Final = {FBR: {2_000: 1_087.0, 2_500: 2_843.0}, DDBR: {14_000: 491.0}}
#: Strategy -> events a minute -> what came of it.
Loads: TypeAlias = Mapping[str, Mapping[int, Load]]


def run(context: Context) -> Outcome:
    """Publish faster and faster."""
    brokers, *_ = SIZES[context.scale]
    rates, seconds = RATES[context.scale]
    crowd = hundred(brokers, RATIO, context.seed)
    loads: dict[str, dict[int, Load]] = {}
    total, done = sum(map(len, rates.values())), 0
    context.progress(done, total)
    for name, those in rates.items():
        strategy = MERC if name == EQUAL else name
        graph = graph_of(strategy, context.scale, context.seed)
        net = BusyOverlay(strategy, graph, crowd, dict.fromkeys(edges(graph), FASTER) if name == MERC else None)
        loads[name] = {}
        for rate in those:
            loads[name][rate] = net.load(context.seed, poisson(rate / 60, seconds, context.seed))
            done += 1
            context.progress(done, total)
    return Outcome(
        rows=_rows(loads, PAPER if brokers == BROKERS else {}),
        figure=Figure(
            "events a minute",
            "latency, ms",
            [
                Series(name, [float(rate) for rate in by_rate], [1e3 * each.latency for each in by_rate.values()])
                for name, by_rate in loads.items()
            ],
            log_y=True,
        ),
        notes=[
            *notes(context.scale),
            f"Ratio {RATIO:.0%}. Quotes come by chance at a mean rate, for {seconds:g} s of virtual time; brokers that "
            "have too much to do fall behind for as long as that lasts, so latencies past what they can take say only "
            "that. What a broker can take is the rate at which it would be busy all the time.",
            MODEL,
            f"The thesis gives edge brokers nodes with 8 processors; MERC here has edge brokers {FASTER:g} times as "
            "fast as others, and once more edge brokers that are not.",
            "The thesis has FBR at 1,087 ms with 2,000 events a minute and at 2,843 ms with 2,500, D-DBR at 491 ms "
            "with 14,000, and MERC stable up to 11,000; from that come its ratios, 14,000 / 2,000 and 11,000 / 2,000."
            " Our FBR cannot take 2,000: the broker in the middle keeps and gets most. Our D-DBR could take far more "
            "than 14,000, because the model has nothing but messages and comparisons in it, and its brokers compare "
            "little. So the order of the three is confirmed; how far they are apart is that of the model.",
        ],
        tables=[_table(loads)],
    )


def _rows(loads: Loads, paper: Mapping[str, Mapping[int, float]]) -> list[Row]:
    takes = {name: 60 * by_rate[max(by_rate)].capacity for name, by_rate in loads.items()}
    rows = []
    for name, by_rate in loads.items():
        for rate, load in by_rate.items():
            if rate in PAPER.get(name, {}) or rate == max(by_rate):
                # Past what brokers can take, latency depends on how long that lasts: nothing to compare.
                past = rate > takes[name]
                label = f"{name}, {rate:,} events a minute: latency" + ", more than it can take" * past
                figure = None if past else paper.get(name, {}).get(rate)
                rows.append(Row(label, 1e3 * load.latency, figure, "ms", "order"))
    rows += [Row(f"{name}: events a minute that the busiest broker can take", each) for name, each in takes.items()]
    return [
        *rows,
        Row("D-DBR / FBR: what they can take", takes[DDBR] / takes[FBR], 7 if paper else None, good="order"),
        Row("MERC / FBR: what they can take", takes[MERC] / takes[FBR], 5.5 if paper else None, good="order"),
    ]


def _table(loads: Loads) -> Table:
    return Table(
        "Latency and load (modelled)",
        ["strategy", "events a minute", "mean, ms", "99 %, ms", "matches per event", "busiest, %"],
        [
            [name, rate, 1e3 * load.latency, 1e3 * load.latency_99, load.matches, max(load.shares.values())]
            for name, by_rate in loads.items()
            for rate, load in by_rate.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    id="002-R4",
    title="100 brokers under load",
    source="specs/002 §9.1 R4, Figure 10.1.9 of the thesis",
    setup="Events are published faster and faster; the time that brokers take is modelled.",
    run=run,
)
