"""From a condition to filters: conjunctions of regions, one for each attribute, in the order of the names."""

from functools import lru_cache
from typing import Final, TypeAlias

from tamis.language import Expression
from tamis.language.normal import TooManyClausesError, clauses
from tamis.routing.conditions import parsed
from tamis.routing.prefix.region import Region, region_of
from tamis.routing.remembered import MANY

#: A filter asks for all its regions; the empty one is met by every event.
Filter: TypeAlias = tuple[Region, ...]
#: The first region of a filter, and the rest.
Cell: TypeAlias = tuple[Region, "Cell | None"]

#: A condition with more clauses is taken as the filter that everything meets.
MOST_CLAUSES: Final = 64
EVERYTHING: Final[Filter] = ()


def filters(expression: Expression) -> tuple[Filter, ...]:
    """Return filters of which an event that matches a condition meets at least one, and no other event any.

    With more than `MOST_CLAUSES` clauses the answer is `EVERYTHING` alone: then other events meet it, too.
    """
    try:
        found = clauses(expression, MOST_CLAUSES)
    except TooManyClausesError:
        return (EVERYTHING,)
    return tuple(tuple(region_of(name, clause[name]) for name in sorted(clause)) for clause in found)


def chain(wanted: Filter) -> Cell | None:
    """Return a filter as a chain, of which every end is shared by the halves of a split."""
    cell: Cell | None = None
    for region in reversed(wanted):
        cell = region, cell
    return cell


@lru_cache(MANY)
def filters_of(condition: str) -> tuple[Filter, ...]:
    """Return the filters of a condition in canonical spelling. All brokers of a process share them."""
    return filters(parsed(condition))


def is_coarse(condition: str) -> bool:
    """Return whether a condition is taken for one that everything meets, though it may say more."""
    return filters_of(condition) == (EVERYTHING,) and not parsed(condition).always
