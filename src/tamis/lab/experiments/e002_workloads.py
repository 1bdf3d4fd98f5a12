"""Are the generated workloads what Ji describes? (specs/002 §9.4)."""

from typing import Final

import numpy as np

import tamis
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series
from tamis.lab.workloads import Ads, BeGen, QueryLog, Workload, generate

#: BE-Gen's grid of matching probabilities; the first is its default.
PROBABILITIES: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
DENSE_DIMENSIONS: Final = 100
SPARSE_DIMENSIONS: Final = 30_000

EVENTS: Final = 1_000
#: Conditions of BE-Gen, all matched with all events, and conditions of the others, only counted. The thesis
#: goes up to 100 million; neither the probability nor the means depend on how many there are.
MATCHED: Final = {Scale.QUICK: 2_000, Scale.FULL: 50_000}
COUNTED: Final = {Scale.QUICK: 50_000, Scale.FULL: 1_000_000}


def run(context: Context) -> Outcome:
    """Generate BE-Gen, advertisements and query logs, and measure the figures that the thesis states."""
    matched, counted = MATCHED[context.scale], COUNTED[context.scale]
    settings = [(DENSE_DIMENSIONS, probability) for probability in PROBABILITIES]
    settings.append((SPARSE_DIMENSIONS, PROBABILITIES[0]))
    total = len(settings) + 2
    rows, measured = [], []
    for done, (dimensions, probability) in enumerate(settings):
        context.progress(done, total)
        spec = BeGen(
            subscriptions=matched,
            events=EVENTS,
            dimensions=dimensions,
            matching_probability=probability,
        )
        measured.append(100 * _matching_probability(generate(spec, context.seed)))
        kind = "dense" if dimensions == DENSE_DIMENSIONS else "sparse"
        asked = 100 * probability
        rows.append(Row(f"BE-Gen {kind}, {asked:g} %: matching probability", measured[-1], asked, "%"))
    context.progress(total - 2, total)
    rows += _ads_rows(generate(Ads(subscriptions=counted, events=EVENTS), context.seed))
    context.progress(total - 1, total)
    rows += _query_log_rows(generate(QueryLog(subscriptions=counted, events=EVENTS), context.seed))
    context.progress(total, total)
    grid = [100 * probability for probability in PROBABILITIES]
    return Outcome(
        rows=rows,
        figure=Figure(
            "matching probability asked for, %",
            "matching probability measured, %",
            [Series("asked for", grid, grid), Series("BE-Gen dense", grid, measured[: len(grid)])],
            log=True,
        ),
        notes=[
            f"{matched:,} conditions of BE-Gen, {counted:,} of the others, {EVENTS:,} events of each.",
            "Matching probabilities are those that tamis.Index finds: matches / (conditions x events). The thesis "
            "does not say how BE-Gen reaches them; ours derives each condition from one of 1 / p events, so that "
            "only accidental matches can move the figure.",
            "The advertisements and query logs of the thesis are not public: ours are made to its means, and "
            "these rows check that they come out.",
        ],
    )


def _matching_probability(workload: Workload) -> float:
    index = tamis.Index()
    index.add_many(range(len(workload.conditions)), workload.conditions.texts())
    matches = sum(len(index.match_batch(batch)) for batch in workload.events.batches())
    return matches / (len(workload.conditions) * len(workload.events))


def _ads_rows(workload: Workload) -> list[Row]:
    sizes = _condition_sizes(workload)
    dimensions, event_size = _event_shape(workload)
    return [
        Row("ads: fewest predicates", float(sizes.min()), 1.0),
        Row("ads: most predicates", float(sizes.max()), 56.0, tolerance=0.1),
        Row("ads: mean predicates", float(sizes.mean()), 8.0),
        Row("ads: mean event size", event_size, 20.0),
        Row("ads: dimensions", dimensions, 122.0),
    ]


def _query_log_rows(workload: Workload) -> list[Row]:
    dimensions, event_size = _event_shape(workload)
    return [
        Row("query logs: mean predicates", float(_condition_sizes(workload).mean()), 2.78),
        Row("query logs: mean event size", event_size, 93.07),
        Row("query logs: dimensions", dimensions, 17_577.0),
    ]


def _condition_sizes(workload: Workload) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.bincount(workload.conditions.columns()["subscription"].to_numpy())


def _event_shape(workload: Workload) -> tuple[float, float]:
    """Return the number of attributes there are, and the mean number that an event has."""
    values = width = 0
    for batch in workload.events.batches():
        width = batch.num_columns
        values += sum(len(column) - column.null_count for column in batch.columns)
    return float(width), values / len(workload.events)


EXPERIMENT: Final = Experiment(
    id="002-workloads",
    title="Generated workloads against their description",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen at every matching probability of its grid (dense: 100 dimensions, sparse: 30,000), "
    "advertisements and query logs.",
    run=run,
)
