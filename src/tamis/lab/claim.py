"""What a paper claims about engines, as one number each, and why ours is another one."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from tamis.lab.experiment import Good, Row
from tamis.lab.trial import SCAN, Trial

#: The engines of specs/002 §9.4 and §9.5 as the thesis writes them, and stages of the A-Tree.
NAMES: Final = {
    SCAN: "SCAN",
    "kindex": "k-index",
    "propagation": "Propagation",
    "opindex": "OpIndex",
    "betree": "BE-Tree",
    "pstbloom": "PSTBloom",
    "psthash": "PSTHash",
    "dewey": "Dewey ID",
    "interval": "Interval ID",
    "bop": "BoP",
    "bdd": "BDD",
    "translation": "Translation",
    "plain": "A-Tree, plain",
    "suppressed": "A-Tree, zero suppression",
    "demand": "A-Tree, on demand",
    "atree": "A-Tree",
}

Measure = Literal["match_microseconds", "build_seconds", "own_bytes", "total_bytes", "candidates"]
MEASURES: Final[Mapping[Measure, str]] = {
    "match_microseconds": "match time",
    "build_seconds": "build time",
    "own_bytes": "memory",
    "total_bytes": "memory",
    "candidates": "evaluations",
}

#: Kind of workload -> value of the swept parameter -> engine -> what it took.
Results: TypeAlias = Mapping[str, Mapping[float, Mapping[str, Trial]]]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """An engine's figure at a point: divided by that of another engine, or by its own at another point, or its place.

    A point that was not run stands for the nearest one that was.
    """

    kind: str
    at: float
    engine: str
    paper: float
    #: Divide by this engine; or by the same engine at this point; if both are None, say its place among all.
    against: str | None = None
    since: float | None = None
    measure: Measure = "match_microseconds"
    good: Good = "near"

    def row(self, results: Results) -> Row | None:
        """Return our number beside the paper's, or None if what it is about was not run."""
        found = self._point(results, self.at)
        if found is None:
            return None
        value, trials = found
        what = f"{self.kind}, {_point(value, self.at)}: {NAMES[self.engine]}"
        measure = MEASURES[self.measure]
        if self.against is not None:
            ours = self._figure(trials, self.engine) / self._figure(trials, self.against)
            return Row(f"{what} / {NAMES[self.against]}, {measure}", ours, self.paper, good=self.good)
        if self.since is not None:
            earlier = self._point(results, self.since)
            if earlier is None or earlier[0] == value:
                return None
            ours = self._figure(trials, self.engine) / self._figure(earlier[1], self.engine)
            label = f"{what}, {measure} / that at {_point(earlier[0], self.since)}"
            return Row(label, ours, self.paper, good=self.good)
        place = 1 + len(self._ahead(trials))
        return Row(f"{what}, place by {measure}", place, self.paper, good="exact")

    def explanation(self, results: Results) -> str | None:
        """Say with the work done why engines come in another order than the paper's; None if they do not."""
        found = self._point(results, self.at)
        if found is None or self.since is not None or self.measure != "match_microseconds":
            return None
        value, trials = found
        if self.against is None:
            others = self._ahead(trials)[int(self.paper) - 1 :][:1]
        else:
            faster = trials[self.engine].match_microseconds < trials[self.against].match_microseconds
            others = [self.against] if self.paper != 1 and faster != (self.paper < 1) else []
        for other in others:
            return f"{self.kind}, {value:,}: {compared(self.engine, other, trials)}"
        return None

    def _point(self, results: Results, at: float) -> tuple[float, Mapping[str, Trial]] | None:
        needed = {self.engine} if self.against is None else {self.engine, self.against}
        points = {value: trials for value, trials in results.get(self.kind, {}).items() if needed <= trials.keys()}
        if not points:
            return None
        value = min(points, key=lambda each: abs(each - at))
        return value, points[value]

    def _ahead(self, trials: Mapping[str, Trial]) -> list[str]:
        """Return the engines with a smaller figure, the smallest first; a scan has nothing to build or to keep."""
        taking_part = [name for name in trials if name != SCAN or self.measure == "match_microseconds"]
        taking_part.sort(key=lambda name: self._figure(trials, name))
        return taking_part[: taking_part.index(self.engine)]

    def _figure(self, trials: Mapping[str, Trial], engine: str) -> float:
        return float(getattr(trials[engine], self.measure))


def compared(engine: str, other: str, trials: Mapping[str, Trial]) -> str:
    """Set the work of two engines side by side, the faster one's first: how many candidates, and how long on each."""
    fast, slow = sorted((engine, other), key=lambda name: trials[name].match_microseconds)
    quick, late = trials[fast], trials[slow]
    return (
        f"{_work(fast, quick)} {_work(slow, late)} {NAMES[fast]} looks at "
        f"{quick.candidates / max(late.candidates, 1):,.2f} times as many candidates and spends {_each(quick):,.0f} ns "
        f"for each, {NAMES[slow]} {_each(late):,.0f} ns."
    )


def _work(name: str, trial: Trial) -> str:
    return (
        f"{NAMES[name]} takes {trial.match_microseconds:,.1f} µs for {trial.candidates:,.1f} candidates and "
        f"{trial.tests:,.1f} predicate tests per event."
    )


def _each(trial: Trial) -> float:
    return 1000 * trial.match_microseconds / max(trial.candidates, 1)


def _point(value: float, wanted: float) -> str:
    return f"{value:,}" if value == wanted else f"{value:,} (paper: {wanted:,})"
