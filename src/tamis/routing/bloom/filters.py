"""From conditions to what Bloom-filter routing knows: filters, which are conjunctions of predicates (specs/004 §2)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from tamis.covering.containment import is_subset
from tamis.covering.settled import settled_values
from tamis.language import Kind
from tamis.language.normal import TooManyClausesError, clauses
from tamis.language.ranges import points
from tamis.language.spelling import spell
from tamis.language.valueset import ValueSet, of_kind
from tamis.routing.conditions import parsed

#: So many conditions are kept as filters, for all brokers of a process together.
REMEMBERED: Final = 1 << 16


class Predicate(NamedTuple):
    """All that a filter says of one attribute: the values it may have. Equal predicates have equal texts."""

    attribute: str
    #: In the form in which `tamis.covering` compares sets of values.
    values: ValueSet
    text: str
    #: If there is one such value only: its kind and itself.
    point: tuple[Kind, Any] | None

    def met_by(self, kind: Kind, value: Any, event: Mapping[str, Any]) -> bool:
        """Return whether the predicate is true of an event, whose attribute has been read already."""
        if not self.values.contains(kind, value):
            return False
        filters = self.values.filters
        return not filters or all(each.truth(event) is True for each in filters)

    def covers(self, other: "Predicate") -> bool:
        """Return whether it is certain that another predicate on the attribute says this and more.

        A strict order: of two that say the same in different words, which only happens with patterns, the one whose
        text comes first covers the other.
        """
        if not is_subset(other.values, self.values):
            return False
        return self.text < other.text or not is_subset(self.values, other.values)


#: A conjunction of predicates, at most one for an attribute. Without any it matches everything.
Filter: TypeAlias = tuple[Predicate, ...]


class Filters(NamedTuple):
    """The filters of a condition: whoever meets it meets at least one, and the other way round unless `blunt`."""

    filters: tuple[Filter, ...]
    #: There would be too many filters, so one stands for them that matches everything.
    blunt: bool


@lru_cache(REMEMBERED)
def filters_of(condition: str) -> Filters:
    """Return the filters of a condition: one for each clause of its disjunctive form, none if it never holds.

    [ours] The sources know conjunctions only.
    """
    try:
        found = clauses(parsed(condition))
    except TooManyClausesError:
        return Filters(((),), True)
    made: dict[tuple[str, ...], Filter] = {}
    for clause in found:
        settled = {name: settled_values(values) for name, values in clause.items()}
        if any(values.is_empty for values in settled.values()):
            continue
        names = sorted(name for name, values in settled.items() if not values.is_full)
        predicates = tuple(predicate(name, settled[name]) for name in names)
        made[tuple(each.text for each in predicates)] = predicates
    return Filters(tuple(made.values()), False)


def predicate(attribute: str, values: ValueSet) -> Predicate:
    """Return the predicate that an attribute has one of some settled values."""
    return Predicate(attribute, values, str(spell(attribute, values)), _point(values))


def _point(values: ValueSet) -> tuple[Kind, Any] | None:
    """Return the only value of a set, if it is an ordinary one."""
    kinds = list(values.kinds())
    if values.null or values.other or values.filters or len(kinds) != 1:
        return None
    kind, ranges = kinds[0]
    least = next(ranges.intervals()).low
    if least is None:
        return None
    return (kind, least) if values == settled_values(of_kind(kind, points((least,)))) else None
