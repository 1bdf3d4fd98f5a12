"""How often is a subscription kept away from home? Figure 10.1.11 of the thesis (R7)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.hundred import SIZES, Found, found, notes
from tamis.lab.overlays import DDBR, FBR, MERC, STRATEGIES

#: Shares of brokers that advertise what a subscription asks for.
RATIOS: Final[dict[Scale, tuple[float, ...]]] = {Scale.QUICK: (0.6, 0.8), Scale.FULL: (0.2, 0.5, 0.8)}
#: The one of which the thesis has a figure.
NAMED: Final = 0.8
PAPER_COPIES: Final = 221
BROKERS: Final = 100


def run(context: Context) -> Outcome:
    """Count copies, with more and more brokers that advertise what is asked for."""
    brokers, *_ = SIZES[context.scale]
    copies: dict[str, dict[float, Found]] = {name: {} for name in STRATEGIES}
    points = [(name, context.scale, ratio, context.seed) for ratio in RATIOS[context.scale] for name in STRATEGIES]
    for (name, _, ratio, _), each in zip(points, context.each(found, points), strict=True):
        copies[name][ratio] = each
    matching = NAMED * brokers
    return Outcome(
        rows=[
            Row(
                f"{brokers} brokers, {NAMED:.0%}: copies of a subscription, FBR",
                copies[FBR][NAMED].copies,
                PAPER_COPIES if brokers == BROKERS else None,
                tolerance=0.1,
            ),
            Row(
                f"{brokers} brokers, {NAMED:.0%}: copies for each matching broker, FBR",
                copies[FBR][NAMED].copies / matching,
            ),
            *(
                Row(f"{brokers} brokers, {NAMED:.0%}: copies of a subscription, {name}", copies[name][NAMED].copies)
                for name in (DDBR, MERC)
            ),
        ],
        figure=Figure(
            "brokers that advertise a match, %",
            "copies of a subscription",
            [
                Series(name, [100 * ratio for ratio in by_ratio], [each.copies for each in by_ratio.values()])
                for name, by_ratio in copies.items()
            ],
        ),
        notes=[
            *notes(context.scale),
            "A copy is kept away from the subscriber's own broker. FBR's 221 at 80 matching brokers are 2.76 for each: "
            "the mean distance between brokers.",
        ],
        tables=[
            Table(
                "Copies of a subscription",
                ["brokers that advertise a match, %", *copies],
                [
                    [f"{100 * ratio:g}", *(by_ratio[ratio].copies for by_ratio in copies.values())]
                    for ratio in RATIOS[context.scale]
                ],
            )
        ],
    )


EXPERIMENT: Final = Experiment(
    id="002-R7",
    title="Copies of a subscription",
    source="specs/002 §9.1 R7, Figure 10.1.11 of the thesis",
    setup="More and more brokers advertise what a subscription asks for.",
    run=run,
    grid="counted",
)
