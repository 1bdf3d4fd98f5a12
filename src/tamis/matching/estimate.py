"""What a condition would cost, and what it just misses: asked of a sample of events."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa

from tamis.language import Expression
from tamis.language.misses import misses
from tamis.matching.errors import SubscriptionError
from tamis.matching.segments.cuts import Doubles
from tamis.matching.segments.draft import draft_of
from tamis.matching.segments.lines import Lines
from tamis.matching.segments.rows import LOOSE, POINTS, RANGES, SPREAD
from tamis.matching.segments.segment import build

#: Events as they may be given.
Events: TypeAlias = Iterable[Mapping[str, Any]] | pa.RecordBatch | pa.Table

MILLION: Final = 1_000_000
_ANCHORS: Final = {POINTS: "one value", RANGES: "a range", SPREAD: "several values", LOOSE: "none: every event"}


class BudgetWarning(UserWarning):
    """A subscription costs more than the budget of its index, and was accepted."""


class Estimate(msgspec.Struct, frozen=True):
    """What a condition is expected to do, judging by a sample of events."""

    #: How many events the sample has.
    events: int
    #: How many of a million events would meet it.
    matches_per_million: float
    #: How many of a million events would be compared with it, met or not: what it costs.
    looks_per_million: float
    #: What an event must have to be compared with it.
    anchor: str

    def __str__(self) -> str:
        return (
            f"{self.matches_per_million:,.0f} matches and {self.looks_per_million:,.0f} looks per million events "
            f"(anchor: {self.anchor}; sample of {self.events:,})"
        )


class Miss(msgspec.Struct, frozen=True):
    """An event that does not meet a condition, with the fewest predicates that would have to be true for it to."""

    event: Mapping[str, Any]
    missing: tuple[str, ...]


def listed(events: Events) -> list[Mapping[str, Any]]:
    """Return events as a list of dictionaries."""
    if isinstance(events, pa.RecordBatch | pa.Table):
        rows: list[Mapping[str, Any]] = events.to_pylist()
        return rows
    return list(events)


def estimate(expression: Expression, events: Sequence[Mapping[str, Any]]) -> Estimate:
    """Estimate what a condition would cost, from events, of which there must be some."""
    looks, kinds = _looks([expression], events)
    matches = sum(expression.matches(event) for event in events)
    share = MILLION / len(events)
    return Estimate(len(events), share * matches, float(looks[0]), _ANCHORS.get(int(kinds[0]), "nothing meets it"))


def _looks(expressions: Sequence[Expression], events: Sequence[Mapping[str, Any]]) -> tuple[Doubles, Any]:
    """Return for each condition how many of a million events would be compared with it, and by what anchor."""
    hits: list[tuple[Any, int]] = []

    def counted(lines: Lines) -> tuple[Any, int]:
        counts = np.zeros(len(lines.cuts.dimension), np.int64)
        for event in events:
            np.add.at(counts, np.array(lines.leaves_of(event), np.int64), 1)
        hits.append((counts, len(events)))
        return hits[0]

    segment, order = build(draft_of(expressions), counted)
    rows, (counts, total) = segment.rows, hits[0]
    looks = np.zeros(len(expressions))
    kinds = np.searchsorted(rows.ends, np.arange(len(expressions)), side="right")
    before = np.concatenate(([0], np.cumsum(counts)))
    anchor = rows.terms.reshape(-1, 3)[rows.term_start[: rows.ends[RANGES]]]
    points, ranges = slice(0, rows.ends[POINTS]), slice(rows.ends[POINTS], rows.ends[RANGES])
    looks[points] = counts[anchor[points, 1]]
    on = anchor[ranges, 0]
    looks[ranges] = before[rows.base[on + 1]] - before[rows.base[on] + 1]
    leaf = np.repeat(np.arange(len(rows.spread_start) - 1), np.diff(rows.spread_start))
    np.add.at(looks, rows.spread, counts[leaf])
    looks = np.minimum(looks, total)
    looks[rows.ends[SPREAD] : rows.ends[LOOSE]] = total
    in_order, kind_in_order = np.empty_like(looks), np.empty_like(kinds)
    in_order[order], kind_in_order[order] = looks * (MILLION / max(total, 1)), kinds
    return in_order, kind_in_order


def nearest_misses(expression: Expression, events: Iterable[Mapping[str, Any]], count: int) -> list[Miss]:
    """Return the events that come nearest to meeting a condition without doing so, the nearest first."""
    found: list[tuple[int, int, Miss]] = []
    for number, event in enumerate(events):
        missing = misses(expression, event)
        if missing:
            found.append((len(missing), number, Miss(event, tuple(map(str, missing)))))
    return [miss for *_, miss in sorted(found, key=lambda each: each[:2])[:count]]


class Budget:
    """How many looks per million events one subscription may cost, and what happens to one that costs more."""

    def __init__(self, looks_per_million: float, over: Literal["refuse", "warn"] = "refuse") -> None:
        if not looks_per_million >= 0:
            raise ValueError(f"a budget is not negative: {looks_per_million}")
        if over not in ("refuse", "warn"):
            raise ValueError(f"what costs more is to be refused or to be warned of, not: {over!r}")
        self.looks_per_million = looks_per_million
        self._over = over

    def check(self, expressions: Sequence[Expression], events: Sequence[Mapping[str, Any]]) -> None:
        """Refuse conditions that cost more, or warn of them. Without events, only those that every event looks at."""
        looks, kinds = _looks(expressions, events)
        if not events:
            looks = np.where(kinds == LOOSE, float(MILLION), 0.0)
        for number in np.flatnonzero(looks > self.looks_per_million).tolist():
            text = str(expressions[number])
            where = f"row {number}: " if len(expressions) > 1 else ""
            message = (
                f"{where}about {looks[number]:,.0f} of a million events would be compared with it, more than "
                f"the budget of {self.looks_per_million:,.0f}: {text[:200]}"
            )
            if self._over == "refuse":
                raise SubscriptionError(message)
            warnings.warn(message, BudgetWarning, stacklevel=4)
