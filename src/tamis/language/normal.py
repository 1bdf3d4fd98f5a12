"""Normal forms.

The steps: push negation into the predicates (specs/002 §7: afterwards "unknown" may be treated as "false" with the
same matches), merge the predicates of each attribute into one set of values, flatten, drop what is constant or
repeated, and either spell the result again or multiply it out into clauses.
"""

from collections.abc import Iterable
from math import prod
from typing import NamedTuple, TypeAlias

from tamis.language.spelling import joined, spell
from tamis.language.tree import And, Constant, Expression, Not, Or, Predicate, Xnor, Xor
from tamis.language.valueset import ValueSet, true_for

#: Above so many clauses a disjunctive form is refused unless the caller asks for more.
DEFAULT_CLAUSES = 256

#: One conjunction: for each attribute the values it may have.
Clause: TypeAlias = dict[str, ValueSet]


class TooManyClausesError(ValueError):
    """A disjunctive normal form would have more clauses than allowed; nothing was expanded."""

    def __init__(self, count: int, limit: int) -> None:
        super().__init__(f"the disjunctive form has {count} clauses, more than {limit}")
        self.count = count
        self.limit = limit


class Atom(NamedTuple):
    """One attribute and the values it may have."""

    attribute: str
    values: ValueSet


class AllOf(NamedTuple):
    """A conjunction: at most one atom for an attribute, and disjunctions."""

    parts: "tuple[Form, ...]"


class AnyOf(NamedTuple):
    """A disjunction of atoms and conjunctions."""

    parts: "tuple[Form, ...]"


Form: TypeAlias = bool | Atom | AllOf | AnyOf


def without_negation(expression: Expression, negated: bool = False) -> Expression:
    """Return a condition without `not`, `xor` and `xnor` that matches the same events."""
    match expression:
        case Constant(value=value):
            return Constant(value is not negated)
        case Predicate():
            return expression.negation() if negated else expression
        case Not(operand=operand):
            return without_negation(operand, not negated)
        case And(operands=operands) | Or(operands=operands):
            connective = And if isinstance(expression, And) is not negated else Or
            return connective(tuple(without_negation(operand, negated) for operand in operands))
        case Xor(left=left, right=right) | Xnor(left=left, right=right):
            differ = isinstance(expression, Xor) is not negated
            yes = without_negation(left)
            no = without_negation(left, negated=True)
            same, other = without_negation(right, negated=differ), without_negation(right, negated=not differ)
            return Or((And((yes, same)), And((no, other))))
    raise TypeError(f"{type(expression).__name__} is no expression")


def form(expression: Expression) -> Form:
    """Return a condition with its attributes merged into sets of values."""
    return _form(without_negation(expression))


def _form(expression: Expression) -> Form:
    match expression:
        case Constant(value=value):
            return value
        case Predicate():
            return _atom(expression.attribute, true_for(expression))
        case And(operands=operands):
            return conjunction(map(_form, operands))
        case _:
            return disjunction(map(_form, expression.children()))


def _atom(attribute: str, values: ValueSet) -> Form:
    return False if values.is_empty else True if values.is_full else Atom(attribute, values)


def conjunction(parts: Iterable[Form]) -> Form:
    """Join forms by `and`."""
    atoms: dict[str, ValueSet] = {}
    rest: dict[Form, None] = {}
    for part in _flattened(AllOf, parts):
        if part is False:
            return False
        if isinstance(part, Atom):
            known = atoms.get(part.attribute)
            values = part.values if known is None else known.intersection(part.values)
            if values.is_empty:
                return False
            atoms[part.attribute] = values
        elif part is not True:
            rest[part] = None
    merged = _ordered(atoms, rest)
    return merged[0] if len(merged) == 1 else AllOf(merged) if merged else True


def disjunction(parts: Iterable[Form]) -> Form:
    """Join forms by `or`."""
    atoms: dict[str, ValueSet] = {}
    rest: dict[Form, None] = {}
    for part in _flattened(AnyOf, parts):
        if part is True:
            return True
        if isinstance(part, Atom) and not part.values.filters:
            known = atoms.get(part.attribute)
            values = part.values if known is None else known.union(part.values)
            if values.is_full:
                return True
            atoms[part.attribute] = values
        elif part is not False:
            rest[part] = None
    merged = _ordered(atoms, rest)
    return merged[0] if len(merged) == 1 else AnyOf(merged) if merged else False


def _ordered(atoms: dict[str, ValueSet], rest: Iterable[Form]) -> tuple[Form, ...]:
    """Return the parts in the one order that makes forms of equal conditions equal."""
    distinct = list(rest)
    if len(distinct) > 1:
        distinct.sort(key=lambda part: str(spelled(part)))
    return (*(Atom(attribute, atoms[attribute]) for attribute in sorted(atoms)), *distinct)


def _flattened(joint: type[AllOf] | type[AnyOf], parts: Iterable[Form]) -> Iterable[Form]:
    for part in parts:
        if isinstance(part, joint):
            yield from part.parts
        else:
            yield part


def normalize(expression: Expression) -> Expression:
    """Return the canonical form of a condition; see `Expression.normalized`."""
    return spelled(form(expression))


def spelled(part: Form) -> Expression:
    """Return a condition as an expression."""
    match part:
        case bool():
            return Constant(part)
        case Atom(attribute, values):
            return spell(attribute, values)
        case AllOf(parts):
            return joined(And, map(spelled, parts))
        case AnyOf(parts):
            return joined(Or, map(spelled, parts))


def clauses(expression: Expression, limit: int = DEFAULT_CLAUSES) -> list[Clause]:
    """Return the disjunctive normal form: an event matches if it fits at least one clause.

    Clauses that no event fits are left out, so an empty list means "never" and an empty clause "always".
    If there would be more than `limit`, `TooManyClausesError` tells how many, before any is made.
    """
    return form_clauses(form(expression), limit)


def form_clauses(part: Form, limit: int) -> list[Clause]:
    """Return the clauses of a form; see `clauses`."""
    count = _count(part)
    if count > limit:
        raise TooManyClausesError(count, limit)
    distinct = {frozenset(clause.items()): clause for clause in _clauses(part)}
    return list(distinct.values())


def _count(part: Form) -> int:
    match part:
        case AllOf(parts):
            return prod(map(_count, parts))
        case AnyOf(parts):
            return sum(map(_count, parts))
    return int(part is not False)


def _clauses(part: Form) -> list[Clause]:
    match part:
        case bool():
            return [{}] if part else []
        case Atom(attribute, values):
            return [{attribute: values}]
        case AnyOf(parts):
            return [clause for each in parts for clause in _clauses(each)]
        case AllOf(parts):
            product: list[Clause] = [{}]
            for each in parts:
                product = [
                    both for left in product for right in _clauses(each) if (both := _both(left, right)) is not None
                ]
            return product


def _both(left: Clause, right: Clause) -> Clause | None:
    both = dict(left)
    for attribute, values in right.items():
        known = both.get(attribute)
        both[attribute] = values if known is None else known.intersection(values)
        if both[attribute].is_empty:
            return None
    return both
