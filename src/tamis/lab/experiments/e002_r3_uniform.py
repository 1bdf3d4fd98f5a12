"""How does it change events' latency if subscriptions are even? Figure 10.1.8 (R3)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row
from tamis.lab.overlays import DDBR, FBR
from tamis.lab.twenty import COMPARED, Loads, compared, notes, series, table


def run(context: Context) -> Outcome:
    """Publish the same quotes by both strategies, with subscriptions by both laws."""
    loads = compared(["zipf", "uniform"], context)
    return Outcome(
        rows=_rows(loads),
        figure=Figure("subscriptions of each subscriber", "latency, ms", series(loads)),
        notes=[
            *notes(context.scale),
            "The thesis says that FBR improves if subscriptions are even, that D-DBR becomes slightly worse, because "
            "its self-organisation then has less to gain, and that D-DBR is still far ahead; it gives no figures.",
        ],
        tables=[table(loads)],
    )


def _rows(loads: Loads) -> list[Row]:
    most = max(loads["zipf"][FBR])
    rows = []
    for name in COMPARED:
        zipf, uniform = loads["zipf"][name][most], loads["uniform"][name][most]
        rows += [
            Row(f"{name}, {most} subscriptions each: latency, even / Zipf", uniform.latency / zipf.latency),
            Row(f"{name}, {most} subscriptions each: 99 % latency, even / Zipf", uniform.latency_99 / zipf.latency_99),
            Row(
                f"{name}, {most} subscriptions each: events/s it could take, even / Zipf",
                uniform.capacity / zipf.capacity,
            ),
        ]
    even = loads["uniform"]
    rows.append(
        Row(
            f"even, {most} subscriptions each: latency of FBR / D-DBR",
            even[FBR][most].latency / even[DDBR][most].latency,
        )
    )
    return rows


EXPERIMENT: Final = Experiment(
    id="002-R3",
    title="20 brokers, even subscriptions",
    source="specs/002 §9.1 R3, Figure 10.1.8 of the thesis",
    setup="As 002-R2, with subscriptions that are spread evenly over all stocks.",
    run=run,
    grid="counted",
)
