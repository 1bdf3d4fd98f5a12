"""What stands between an event and a condition."""

from collections.abc import Mapping
from typing import Any

from tamis.language.normal import without_negation
from tamis.language.tree import And, Constant, Expression, Or, Predicate


def misses(expression: Expression, event: Mapping[str, Any]) -> tuple[Predicate, ...] | None:
    """Return the fewest predicates that would have to be true for an event to meet a condition; none if it does.

    Negation is pushed into the predicates first. `None` stands for a condition that nothing can make true.
    """
    return _misses(without_negation(expression), event)


def _misses(expression: Expression, event: Mapping[str, Any]) -> tuple[Predicate, ...] | None:
    if isinstance(expression, Predicate):
        return () if expression.truth(event) is True else (expression,)
    if isinstance(expression, Constant):
        return () if expression.value else None
    if isinstance(expression, And):
        missing: dict[Predicate, None] = {}
        for operand in expression.operands:
            part = _misses(operand, event)
            if part is None:
                return None
            missing.update(dict.fromkeys(part))
        return tuple(missing)
    if isinstance(expression, Or):
        parts = [part for operand in expression.operands if (part := _misses(operand, event)) is not None]
        return min(parts, key=len, default=None)
    raise TypeError(f"{type(expression).__name__} is left after negation was pushed down")
