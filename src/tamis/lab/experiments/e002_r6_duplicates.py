"""How many advertisements reach a broker that has them already? (R6)"""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Series
from tamis.lab.hundred import RATIO, SIZES, Found, found, graph_of, notes
from tamis.lab.overlays import DDBR, FBR, MERC, STRATEGIES

PAPER: Final = {FBR: 38_000, DDBR: 0, MERC: 0}
BROKERS: Final = 100


def run(context: Context) -> Outcome:
    """Let every broker advertise once, and count."""
    brokers, *_, graphs = SIZES[context.scale]
    seeds = range(context.seed, context.seed + graphs)
    counts: dict[str, list[Found]] = {name: [] for name in STRATEGIES}
    points = [(name, context.scale, RATIO, seed) for seed in seeds for name in STRATEGIES]
    for (name, *_), one in zip(points, context.each(found, points), strict=True):
        counts[name].append(one)
    links = graph_of(FBR, context.scale, context.seed).number_of_edges()
    each = counts[FBR][0].duplicates / counts[FBR][0].advertisements
    return Outcome(
        rows=[
            *(
                Row(
                    f"{brokers} brokers: duplicate advertisements, {name}",
                    sum(one.duplicates for one in those) / len(those),
                    PAPER[name] if brokers == BROKERS else None,
                    tolerance=0.1,
                )
                for name, those in counts.items()
            ),
            Row("FBR: duplicates of one advertisement", each),
            Row("2 x links - 2 x (brokers - 1)", 2 * links - 2 * (brokers - 1)),
        ],
        figure=Figure(
            "graph",
            "duplicate advertisements",
            [
                Series(name, [float(seed) for seed in seeds], [float(one.duplicates) for one in those])
                for name, those in counts.items()
            ],
        ),
        notes=[
            *notes(context.scale),
            "Counted as they arrive: an advertisement that its broker has already, or made itself. The thesis has "
            '"more than 38,000". FBR\'s number does not depend on chance: over every link that is not in the tree of '
            "an advertisement it goes both ways. In D-DBR and MERC an advertisement is addressed to brokers.",
        ],
    )


EXPERIMENT: Final = Experiment(
    id="002-R6",
    title="Duplicate advertisements",
    source="specs/002 §9.1 R6 (thesis L1560)",
    setup="Every broker of a general overlay advertises once.",
    run=run,
    grid="counted",
)
