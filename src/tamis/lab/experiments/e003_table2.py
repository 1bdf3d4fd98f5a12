"""How many messages does an event cost, where all radii differ? Table 2 of the paper (specs/003 §4)."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.watching import DIFFERENT_FITTED, Plain, loaded, subscribed
from tamis.lab.workloads.draws import Floats
from tamis.lab.workloads.moving import DIFF_RAD_SERIES, DIFF_RAD_SIZES, EVENTS, START, ar1, diff_radii
from tamis.lab.workloads.values import different

SIZES: Final[dict[Scale, tuple[int, ...]]] = {Scale.QUICK: (500, 1_000), Scale.FULL: DIFF_RAD_SIZES}
#: How many events, and how many seeds: the first one is given, the others follow it.
RUNS: Final = {Scale.QUICK: (1_000, 2), Scale.FULL: (EVENTS, 10)}
CN, UNICAST = "CN(r)", "unicast"
PAPER: Final[Mapping[str, Mapping[int, float]]] = {
    CN: dict(zip(DIFF_RAD_SIZES, (30, 33, 34, 35, 36), strict=True)),
    UNICAST: dict(zip(DIFF_RAD_SIZES, (499, 982, 1_426, 1_850, 2_201), strict=True)),
}
#: Grids that were tried, as steps in a unit; the last is as good as none.
GRIDS: Final = {"1": 1, "1/2": 2, "1/4": 4, "1/10": 10, "1/1,000,000": 1_000_000}


class Count(NamedTuple):
    """Messages for an event: ranges of radii, and subscribers."""

    ranges: float
    affected: float


#: Number of subscriptions -> a count for each seed.
Counts: TypeAlias = Mapping[int, Sequence[Count]]


def run(context: Context) -> Outcome:
    """Let the value move, and count ranges and subscribers."""
    sizes, (events, seeds) = SIZES[context.scale], RUNS[context.scale]
    total, done, wrong = len(sizes) * seeds + len(GRIDS) + 2, 0, 0
    counts: dict[int, list[Count]] = {size: [] for size in sizes}
    for seed in range(context.seed, context.seed + seeds):
        values = ar1(*DIFF_RAD_SERIES, START, events, seed)
        for size in sizes:
            context.progress(done, total)
            radii = diff_radii(size, seed)
            judge = Plain(radii, _equal(radii)) if seed == context.seed else None
            count, errors = _count("radius-runs", radii, _equal(radii), values, judge)
            counts[size].append(count)
            wrong += errors
            done += 1
    tried = []
    for label, radii, centres in _settings(sizes, context.seed):
        context.progress(done, total)
        # Where everybody has another centre, runs by centre would be one for each: the tree does not mind.
        name = "radius-runs" if not centres.any() else "radius-tree"
        values = ar1(*DIFF_RAD_SERIES, START, events, context.seed)
        tried.append((label, len(radii), _count(name, radii, centres, values, None)[0]))
        done += 1
    context.progress(total, total)
    judged = len(sizes) * events
    return Outcome(
        rows=[
            Row(f"events, of {judged:,} judged by brute force, that are wrong", wrong, 0, good="exact"),
            *_rows(counts, CN, context.scale),
            *_rows(counts, UNICAST, context.scale),
        ],
        figure=Figure("subscriptions", "messages for an event", _series(counts), log_y=True),
        notes=_notes(events, seeds),
        tables=[_spread(counts), _tried(tried)],
    )


def _equal(radii: Floats) -> Floats:
    return np.full(len(radii), START)


def _count(name: str, radii: Floats, centres: Floats, values: Floats, judge: Plain | None) -> tuple[Count, int]:
    """Return the count, and of how many events a judge finds others than the structure."""
    structure = loaded(name, subscribed(radii, centres), START)
    ranges = affected = wrong = 0
    for value in values.tolist():
        structure.update(value)
        ranges += structure.range_count
        affected += structure.affected_count
        if judge is not None:
            # Handles are positions.
            found = judge.update(value)
            right = np.array_equal(np.sort(structure.affected()), found)
            wrong += not right or structure.range_count != judge.ranges(found)
    return Count(ranges / len(values), affected / len(values)), wrong


def _settings(sizes: Sequence[int], seed: int) -> list[tuple[str, Floats, Floats]]:
    """Return what else was tried: other grids, and a random start."""
    tried = []
    for grid, ticks in GRIDS.items():
        radii = different(np.random.default_rng(seed), max(sizes), ticks)[0] / ticks
        tried.append((f"{max(sizes):,}, grid {grid}, equal start", radii, _equal(radii)))
    radii = diff_radii(min(sizes), seed)
    inside = np.rint(np.random.default_rng(seed).uniform(-1, 1, len(radii)) * (radii - 1))
    return [
        *tried,
        (f"{min(sizes):,}, grid 1/4, equal start", radii, _equal(radii)),
        (f"{min(sizes):,}, grid 1/4, random start", radii, START + inside),
    ]


def _means(counts: Counts, way: str) -> dict[int, float]:
    return {size: fmean(_messages(each, way)) for size, each in counts.items()}


def _messages(counts: Sequence[Count], way: str) -> list[float]:
    return [each.ranges if way == CN else each.affected for each in counts]


def _rows(counts: Counts, way: str, scale: Scale) -> list[Row]:
    paper = PAPER[way] if scale == Scale.FULL else {}
    return [
        Row(f"{size:,} subscriptions: messages for an event, {way}", mean, paper.get(size))
        for size, mean in _means(counts, way).items()
    ]


def _series(counts: Counts) -> list[Series]:
    series = []
    for way, paper in PAPER.items():
        means = _means(counts, way)
        series += [
            Series(f"{way}, ours", [float(size) for size in means], list(means.values())),
            Series(f"{way}, paper", [float(size) for size in paper], list(paper.values())),
        ]
    return series


def _notes(events: int, seeds: int) -> list[str]:
    return [
        f"Means over {events:,} events and {seeds} seeds. CN(r) sends a message for each range of radii without "
        "anybody inside who is not affected, unicast one for each subscriber who is. Both are counted by 'radius-runs'"
        "; for the first seed, everybody is asked at every event, and lists and numbers of ranges are compared.",
        f"{DIFFERENT_FITTED} So the unicast row confirms little by itself; but one grid makes five sizes right, and "
        "CN(r) hardly depends on it: the last table has what other settings give.",
        "The paper rounds CN(r) to whole messages. Ranges become more for long: their mean needs all events.",
    ]


def _spread(counts: Counts) -> Table:
    return Table(
        "Messages for an event, over the seeds",
        [
            "subscriptions",
            *(f"{way}{what}" for way in (CN, UNICAST) for what in (", paper", ", mean", ", fewest", ", most")),
        ],
        [
            [
                f"{size:,}",
                *(
                    figure
                    for way in (CN, UNICAST)
                    for found in [_messages(each, way)]
                    for figure in (PAPER[way].get(size), fmean(found), min(found), max(found))
                ),
            ]
            for size, each in counts.items()
        ],
    )


def _tried(tried: Sequence[tuple[str, int, Count]]) -> Table:
    return Table(
        "What other settings give, first seed",
        ["drawn, grid, start", "different radii", CN, UNICAST],
        [[label, size, *count] for label, size, count in tried],
    )


EXPERIMENT: Final = Experiment(
    id="003-table2",
    title="Messages, different radii",
    source="specs/003 §4, Table 2 of the paper (L359-363)",
    setup="A value moves; subscribers with different radii are told as ranges of radii or one by one.",
    run=run,
)
