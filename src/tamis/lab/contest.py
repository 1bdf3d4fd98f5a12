"""Engines compared on the same workloads: what the experiments of specs/002 §9.4 and §9.5 have in common."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from tamis.lab.claim import NAMES, Claim, Measure, Results
from tamis.lab.experiment import Context, Figure, Outcome, Scale, Series, Table
from tamis.lab.trial import PASSES, SCAN, Trial, prepare, try_engine
from tamis.lab.workloads import BE_GEN_DENSE, BE_GEN_SPARSE, BeGen, Spec, Workload

#: Subscriptions and events where they are not what is swept. The thesis has 1,000,000 and does not say.
SUBSCRIPTIONS: Final = {Scale.QUICK: 4_000, Scale.FULL: 100_000}
EVENTS: Final = {Scale.QUICK: 200, Scale.FULL: 500}
#: Where their number is swept: quick ends before the paper begins, full reaches the paper's default.
SIZES: Final[Mapping[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (1_000, 3_000, 10_000),
    Scale.FULL: (30_000, 100_000, 300_000, 1_000_000),
}
#: Scalings of the figures shown on paper.
_MEGABYTE: Final = 1e6
_UNITS: Final[Mapping[Measure, str]] = {
    "match_microseconds": "match time per event, µs",
    "build_seconds": "build time, s",
    "own_bytes": "memory, bytes",
    "total_bytes": "memory in all, bytes",
    "candidates": "evaluations per event",
}


@dataclass(frozen=True)
class League:
    """Engines that can be compared, and how."""

    engines: Sequence[str]
    #: An engine is left out above so many subscriptions: it would take many minutes or gigabytes.
    caps: Mapping[str, int]
    #: What is counted, and what building means.
    method: str

    def prepare(self, spec: Spec[Workload], seed: int) -> Any:
        """Generate a workload and make a task of it."""
        return prepare(spec, seed)

    def attempt(self, name: str, task: Any) -> Trial:
        """Put an engine to a task."""
        return try_engine(name, task)


CONJUNCTIVE: Final = League(
    (SCAN, "kindex", "propagation", "opindex", "betree", "pstbloom", "psthash"),
    {SCAN: 300_000, "kindex": 300_000, "propagation": 300_000, "betree": 300_000},
    "Candidates and predicate tests are means per event, counted where each engine looks at them. SCAN is compiled and "
    "tests predicates as the others do. To build means to make an engine's own structure: parsing and rank space are "
    "the same for all.",
)


class Point(msgspec.Struct, frozen=True):
    """A workload to compare engines on: its kind (a panel of the figure), its place there, and its spec."""

    kind: str
    value: float
    spec: Spec[Workload]
    subscriptions: int


def be_gen(scale: Scale, parameter: str, values: Iterable[float]) -> list[Point]:
    """Return BE-Gen's dense and sparse default with one parameter set to each of the values."""
    return [
        point(
            kind,
            value,
            msgspec.structs.replace(spec, **{"subscriptions": SUBSCRIPTIONS[scale], parameter: value}),
            scale,
        )
        for kind, spec in (("dense", BE_GEN_DENSE), ("sparse", BE_GEN_SPARSE))
        for value in values
    ]


def be_gen_grid(scale: Scale, parameter: str, quick: Sequence[float]) -> list[Point]:
    """Return BE-Gen over the grid of the thesis, or over some values of it at scale quick."""
    return be_gen(scale, parameter, quick if scale is Scale.QUICK else BeGen.GRID[parameter])


def point(kind: str, value: float, spec: Any, scale: Scale) -> Point:
    """Return a point with as many events as the scale has."""
    return Point(kind, value, msgspec.structs.replace(spec, events=EVENTS[scale]), spec.subscriptions)


def contest(
    context: Context,
    points: Sequence[Point],
    claims: Sequence[Claim],
    x_label: str,
    measure: Measure = "match_microseconds",
    *,
    league: League = CONJUNCTIVE,
) -> Outcome:
    """Run every engine of a league at every point, within its caps, and set the claims beside what comes out."""
    results: dict[str, dict[float, Mapping[str, Trial]]] = {}
    tried = context.each(_tried, [(league, each, context.seed) for each in points])
    for each, trials in zip(points, tried, strict=True):
        results.setdefault(each.kind, {})[each.value] = trials
    positive = all(each.value > 0 for each in points)
    return Outcome(
        rows=[row for row in (claim.row(results) for claim in claims) if row is not None],
        figure=Figure(x_label, _UNITS[measure], _series(results, measure), log=positive, log_y=not positive),
        notes=_notes(points, claims, results, league),
        tables=[_table(kind, x_label, values) for kind, values in results.items()],
    )


def _tried(league: League, each: Point, seed: int) -> dict[str, Trial]:
    names = [name for name in league.engines if each.subscriptions <= league.caps.get(name, each.subscriptions)]
    return dict(compete(league, names, league.prepare(each.spec, seed)))


def compete(league: League, names: Iterable[str], task: Any) -> Iterator[tuple[str, Trial]]:
    """Try engines one after the other; `RuntimeError` as soon as two of them do not find the same."""
    first: tuple[str, Trial] | None = None
    for name in names:
        trial = league.attempt(name, task)
        first = first or (name, trial)
        if trial.matches != first[1].matches:
            raise RuntimeError(f"{name} and {first[0]} do not find the same: one of them is wrong")
        yield name, trial


def _series(results: Results, measure: Measure) -> list[Series]:
    found = []
    for kind, values in results.items():
        names = list(dict.fromkeys(name for trials in values.values() for name in trials))
        for name in names:
            if name == SCAN and measure != "match_microseconds":
                continue
            x = [value for value, trials in values.items() if name in trials]
            y = [float(getattr(values[value][name], measure)) for value in x]
            found.append(Series(NAMES[name], x, y, kind))
    return found


def _table(kind: str, x_label: str, values: Mapping[float, Mapping[str, Trial]]) -> Table:
    return Table(
        f"All figures: {kind}",
        [x_label, "engine", "match, µs", "candidates", "predicate tests", "build, s", "own, MB", "in all, MB"],
        [
            [
                f"{value:,}",
                NAMES[name],
                trial.match_microseconds,
                trial.candidates,
                trial.tests,
                trial.build_seconds,
                trial.own_bytes / _MEGABYTE,
                trial.total_bytes / _MEGABYTE,
            ]
            for value, trials in values.items()
            for name, trial in trials.items()
        ],
    )


def _notes(points: Sequence[Point], claims: Sequence[Claim], results: Results, league: League) -> list[str]:
    sizes = sorted({each.subscriptions for each in points})
    trials = [trial for values in results.values() for each in values.values() for trial in each.values()]
    events = len(trials[0].matches)
    met = sorted(sum(trial.matches) / events for trial in trials)
    notes = [
        f"{sizes[0]:,} to {sizes[-1]:,} subscriptions, {events:,} events, {met[0]:,.1f} to {met[-1]:,.1f} matches "
        "per event, the same for every engine."
        if len(sizes) > 1
        else f"{sizes[0]:,} subscriptions, {events:,} events, {met[0]:,.1f} to {met[-1]:,.1f} matches per event, the "
        "same for every engine.",
        f"Processor times of one thread; the fastest of up to {PASSES} passes over events that are already in rank "
        f"space. {league.method}",
    ]
    capped = [f"{NAMES[name]} above {cap:,}" for name, cap in league.caps.items() if sizes[-1] > cap]
    if capped:
        notes.append(f"Left out because of time or memory: {', '.join(capped)} subscriptions.")
    explained = (claim.explanation(results) for claim in claims)
    return notes + list(dict.fromkeys(f"Not the paper's order. {each}" for each in explained if each is not None))
