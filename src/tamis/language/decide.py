"""Can a condition ever match? Can it ever fail to?

The answers are certain when they are yes. They are complete as well for conditions without `array_contains` and
without `like` patterns other than `text` and `text%`, as long as the disjunctive form stays below
`SEARCH_LIMIT` clauses.
"""

from tamis.language.normal import (
    AllOf,
    AnyOf,
    Atom,
    Form,
    TooManyClausesError,
    conjunction,
    disjunction,
    form,
    form_clauses,
)
from tamis.language.tree import Expression

SEARCH_LIMIT = 4096


def is_never(expression: Expression) -> bool:
    """Return whether it is certain that no event matches."""
    return _impossible(form(expression))


def is_always(expression: Expression) -> bool:
    """Return whether it is certain that every event matches."""
    return _impossible(_complement(form(expression)))


def _impossible(part: Form) -> bool:
    try:
        return not form_clauses(part, SEARCH_LIMIT)
    except TooManyClausesError:
        return False


def _complement(part: Form) -> Form:
    """Return where a form does not match, or more: the complement of a filter is taken to be everything."""
    match part:
        case bool():
            return not part
        case Atom(attribute, values):
            return True if values.filters else Atom(attribute, values.complement())
        case AllOf(parts):
            return disjunction(map(_complement, parts))
        case AnyOf(parts):
            return conjunction(map(_complement, parts))
