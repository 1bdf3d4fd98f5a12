"""How long do events take with 20 brokers and subscriptions by Zipf's law? Figures 10.1.5 and 10.1.6 (R2)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row
from tamis.lab.overlays import DDBR, FBR
from tamis.lab.twenty import Loads, compared, notes, series, table


def run(context: Context) -> Outcome:
    """Publish the same quotes by both strategies, with more and more subscriptions."""
    loads = compared(["zipf"], context)
    return Outcome(
        rows=_rows(loads),
        figure=Figure("subscriptions of each subscriber", "latency, ms", series(loads)),
        notes=[
            *notes(context.scale),
            "The thesis' latencies vary over five minutes of one run of which the number of subscriptions is not "
            "given; ours are means, for the two largest numbers. Its broker 4 is the one of the largest gap.",
        ],
        tables=[table(loads)],
    )


def _rows(loads: Loads) -> list[Row]:
    fbr, ddbr = loads["zipf"][FBR], loads["zipf"][DDBR]
    fewer, most = sorted(fbr)[-2:]
    quotients = {broker: (share, ddbr[most].shares[broker]) for broker, share in fbr[most].shares.items()}
    worst = max(quotients, key=lambda broker: quotients[broker][0] - quotients[broker][1])
    return [
        Row(f"D-DBR, {fewer} subscriptions each: latency", 1e3 * ddbr[fewer].latency, 35, "ms", "order"),
        Row(f"D-DBR, {most} subscriptions each: latency", 1e3 * ddbr[most].latency, 35, "ms", "order"),
        Row(f"FBR, {fewer} subscriptions each: latency", 1e3 * fbr[fewer].latency, 77, "ms", "order"),
        Row(f"FBR, {most} subscriptions each: latency", 1e3 * fbr[most].latency, 200, "ms", "order"),
        Row(f"{most} subscriptions each: latency of FBR / D-DBR", fbr[most].latency / ddbr[most].latency),
        Row(
            f"FBR, {most} subscriptions each: broker of the largest gap, busy", quotients[worst][0], 75.4, "%", "order"
        ),
        Row(f"D-DBR, {most} subscriptions each: the same broker, busy", quotients[worst][1], 6, "%", "order"),
        Row(
            f"events/s that D-DBR could take / FBR, {most} subscriptions each", ddbr[most].capacity / fbr[most].capacity
        ),
    ]


EXPERIMENT: Final = Experiment(
    id="002-R2",
    title="20 brokers, subscriptions by Zipf's law",
    source="specs/002 §9.1 R2, Figures 10.1.5 and 10.1.6 of the thesis",
    setup="A general overlay of 20 brokers; the time that brokers take is modelled.",
    run=run,
    grid="counted",
)
