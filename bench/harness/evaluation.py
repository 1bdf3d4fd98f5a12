"""Packages that evaluate one rule at a time, and CLIPS: rules per second on W-A, and how many matches they find."""

import json
import subprocess
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any, Final

import msgspec

from tamis.lab.workloads import Conjunctions

#: A rule: attribute, least and greatest value, of each predicate.
Rule = list[tuple[str, int, int]]
Event = dict[str, int]


class Evaluated(msgspec.Struct, frozen=True):
    """CPU seconds of building and of one pass over the events, and the matches of that pass."""

    build_seconds: float
    match_seconds: float
    matches: int


class PeerMissingError(RuntimeError):
    """The package is not there."""


def rules_of(conditions: Conjunctions) -> list[Rule]:
    """Return conjunctions of integer ranges as rules."""
    asked, names = conditions.predicates, conditions.attributes
    columns = zip(conditions.codes.tolist(), asked.low.tolist(), asked.high.tolist(), strict=True)
    told = [(names[code], low, high) for code, low, high in columns]
    bounds = conditions.offsets.tolist()
    return [told[start:end] for start, end in pairwise(bounds)]


def lambdas(rules: Sequence[Rule], events: Sequence[Event]) -> Evaluated:
    """Compile each rule into a Python function once, then call all of them with every event."""

    def written(rule: Rule) -> str:
        tests = [
            f"get({name!r}) == {low}" if low == high else f"(v := get({name!r})) is not None and {low} <= v <= {high}"
            for name, low, high in rule
        ]
        return f"lambda get: {' and '.join(tests)}"

    start = process_time()
    functions: list[Callable[[Any], bool]] = [eval(written(rule)) for rule in rules]  # noqa: S307 - our own text
    return _timed(start, lambda event: sum(1 for each in functions if each(event.get)), events)


def clips(rules: Sequence[Rule], events: Sequence[Event]) -> Evaluated:
    """Give CLIPS a rule for each conjunction on one template with a slot for each attribute, and assert each event."""
    try:
        import clips as package
    except ImportError:
        raise PeerMissingError("clipspy is not installed: pip install clipspy") from None
    names = sorted({name for event in events for name in event} | {name for rule in rules for name, _, _ in rule})
    start = process_time()
    environment = package.Environment()
    slots = " ".join(f"(slot {name} (default -1))" for name in names)
    environment.build(f"(deftemplate event {slots})")
    for number, rule in enumerate(rules):
        tests = " ".join(
            f"({name} {low})"
            if low == high
            else f"({name} ?v{place}&:(and (>= ?v{place} {low}) (<= ?v{place} {high})))"
            for place, (name, low, high) in enumerate(rule)
        )
        environment.build(f"(defrule r{number} (event {tests}) =>)")
    template = environment.find_template("event")

    def fired(event: Event) -> int:
        fact = template.assert_fact(**event)
        count: int = environment.run()
        fact.retract()
        return count

    return _timed(start, fired, events)


def rule_engine(rules: Sequence[Rule], events: Sequence[Event], python: str) -> Evaluated:
    """Run the package rule-engine in a Python that has it."""
    command = [python, str(Path(__file__).with_name("rule_engine_peer.py"))]
    data = json.dumps({"rules": rules, "events": events})
    done = subprocess.run(command, input=data, capture_output=True, text=True, check=False)  # noqa: S603 - our own file
    if "No module named 'rule_engine'" in done.stderr:
        raise PeerMissingError(
            f"rule-engine is not installed in {python}: it needs an older python-dateutil than we do, so install it "
            "in an environment of its own and name that with --rule-engine-python"
        )
    if done.returncode:
        raise RuntimeError(f"rule-engine failed: {done.stderr.strip()}")
    return msgspec.json.decode(done.stdout, type=Evaluated)


PASSES: Final = 3


def _timed(start: float, match: Callable[[Event], int], events: Sequence[Event]) -> Evaluated:
    build = process_time() - start
    times, matches = [], 0
    for _ in range(PASSES):
        start = process_time()
        matches = sum(match(event) for event in events)
        times.append(process_time() - start)
    return Evaluated(build, min(times), matches)
