"""The expression tree: frozen, hashable, comparable, printable.

A tree keeps the shape in which its condition was written; `normalized()` gives the canonical form.
Truth has three values (Kleene; specs/002 §2): an absent attribute, a null or a value of another kind makes
a predicate unknown, which is `None` here.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from tamis.language.like import Pattern, pattern
from tamis.language.values import Kind, Literal, literal_kind, literal_text, read, typed

Event = Mapping[str, Any]
Truth = bool | None

OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COMPLEMENT: Final = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


# What never changes cannot be part of a cycle: the garbage collector need not go through millions of them.
class Expression(msgspec.Struct, frozen=True, gc=False):
    """A condition over the attributes of an event."""

    def truth(self, event: Event) -> Truth:  # noqa: ARG002 - subclasses use it
        """Return True, False, or None for unknown: the reference meaning of the language."""
        raise TypeError(f"{type(self).__name__} has no meaning of its own")

    def matches(self, event: Event) -> bool:
        """Return whether the condition is true of the event; unknown does not match."""
        return self.truth(event) is True

    def children(self) -> "tuple[Expression, ...]":
        """Return the conditions directly below this one."""
        return ()

    def predicates(self) -> "Iterator[Predicate]":
        """Yield the predicates from left to right, repeated ones as often as they occur."""
        for child in self.children():
            yield from child.predicates()

    @property
    def attributes(self) -> frozenset[str]:
        """The canonical names of all attributes used."""
        return frozenset(predicate.attribute for predicate in self.predicates())

    def normalized(self) -> "Expression":
        """Return the canonical form: it matches exactly the same events.

        Negation is pushed into the predicates, operands are flattened, merged per attribute, de-duplicated and sorted.
        """
        from tamis.language.normal import normalize

        return normalize(self)

    @property
    def never(self) -> bool:
        """Whether it is certain that no event matches. Exact unless normal forms explode."""
        from tamis.language.decide import is_never

        return is_never(self)

    @property
    def always(self) -> bool:
        """Whether it is certain that every event matches. Exact unless normal forms explode."""
        from tamis.language.decide import is_always

        return is_always(self)


class Constant(Expression, frozen=True):
    """`true` or `false`."""

    value: bool

    def truth(self, event: Event) -> Truth:  # noqa: ARG002 - the event does not matter
        return self.value

    def __str__(self) -> str:
        return "true" if self.value else "false"


class Predicate(Expression, frozen=True):
    """A condition on one attribute."""

    attribute: str

    def predicates(self) -> "Iterator[Predicate]":
        yield self

    def negation(self) -> "Predicate":
        """Return the predicate that is true where this is false, and unknown where this is unknown."""
        raise TypeError(f"{type(self).__name__} has no negation of its own")


class Comparison(Predicate, frozen=True):
    """`price > 10`. `kind` tells `x = 1` from `x = true`, which Python takes for equal."""

    operator: str
    value: Literal
    kind: Kind

    def truth(self, event: Event) -> Truth:
        kind, value = read(event, self.attribute)
        return OPERATORS[self.operator](value, self.value) if kind is self.kind else None

    def negation(self) -> "Comparison":
        return Comparison(self.attribute, COMPLEMENT[self.operator], self.value, self.kind)

    def __str__(self) -> str:
        if self.value is True and self.operator == "=":
            return self.attribute
        return f"{self.attribute} {self.operator} {literal_text(self.value)}"


def compare(attribute: str, operator: str, value: Literal) -> Comparison:
    """Return a comparison; the kind is that of the value."""
    return Comparison(attribute, operator, value, literal_kind(value))


class Between(Predicate, frozen=True):
    """`price between 10 and 20`, both ends included."""

    low: Literal
    high: Literal
    kind: Kind
    negated: bool = False

    def truth(self, event: Event) -> Truth:
        kind, value = read(event, self.attribute)
        return (self.low <= value <= self.high) is not self.negated if kind is self.kind else None

    def negation(self) -> "Between":
        return Between(self.attribute, self.low, self.high, self.kind, not self.negated)

    def __str__(self) -> str:
        word = "not between" if self.negated else "between"
        return f"{self.attribute} {word} {literal_text(self.low)} and {literal_text(self.high)}"


class In(Predicate, frozen=True):
    """`symbol in ('A', 'B')`. With a null in the list it is unknown where it would be false."""

    values: tuple[Literal, ...]
    kind: Kind
    negated: bool = False
    has_null: bool = False

    def truth(self, event: Event) -> Truth:
        kind, value = read(event, self.attribute)
        if kind is not self.kind:
            return None
        if value in self.values:
            return not self.negated
        return None if self.has_null else self.negated

    def negation(self) -> "In":
        return In(self.attribute, self.values, self.kind, not self.negated, self.has_null)

    def __str__(self) -> str:
        values = [literal_text(value) for value in self.values] + ["null"] * self.has_null
        return f"{self.attribute} {'not in' if self.negated else 'in'} ({', '.join(values)})"


class Like(Predicate, frozen=True):
    """`name like 'a%'`."""

    text: str
    escape: str | None = None
    negated: bool = False

    @property
    def pattern(self) -> Pattern:
        """The pattern taken apart."""
        return pattern(self.text, self.escape)

    def truth(self, event: Event) -> Truth:
        kind, value = read(event, self.attribute)
        if kind is not Kind.STRING:
            return None
        return (self.pattern.regex.fullmatch(value) is not None) is not self.negated

    def negation(self) -> "Like":
        return Like(self.attribute, self.text, self.escape, not self.negated)

    def __str__(self) -> str:
        word = "not like" if self.negated else "like"
        escape = f" escape {literal_text(self.escape)}" if self.escape is not None else ""
        return f"{self.attribute} {word} {literal_text(self.text)}{escape}"


class IsNull(Predicate, frozen=True):
    """`price is null`: the one predicate that is never unknown. Absent and null are the same."""

    negated: bool = False

    def truth(self, event: Event) -> Truth:
        kind, _ = read(event, self.attribute)
        return (kind is Kind.NULL) is not self.negated

    def negation(self) -> "IsNull":
        return IsNull(self.attribute, not self.negated)

    def __str__(self) -> str:
        return f"{self.attribute} is {'not ' if self.negated else ''}null"


class ArrayContains(Predicate, frozen=True):
    """`array_contains(tags, 'x')`: the three-valued `or` of `element = 'x'` over the elements."""

    value: Literal
    kind: Kind
    negated: bool = False

    def truth(self, event: Event) -> Truth:
        _, elements = read(event, self.attribute)
        if hasattr(elements, "tolist"):
            elements = elements.tolist()
        if not isinstance(elements, list | tuple):
            return None
        unknown = False
        for element in elements:
            kind, value = typed(element)
            if kind is not self.kind:
                unknown = True
            elif value == self.value:
                return not self.negated
        return None if unknown else self.negated

    def negation(self) -> "ArrayContains":
        return ArrayContains(self.attribute, self.value, self.kind, not self.negated)

    def __str__(self) -> str:
        return f"{'not ' * self.negated}array_contains({self.attribute}, {literal_text(self.value)})"


class Not(Expression, frozen=True):
    """`not (…)`."""

    operand: Expression

    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)

    def truth(self, event: Event) -> Truth:
        truth = self.operand.truth(event)
        return None if truth is None else not truth

    def __str__(self) -> str:
        return f"not ({self.operand})"


class _Many(Expression, frozen=True):
    operands: tuple[Expression, ...]

    def children(self) -> tuple[Expression, ...]:
        return self.operands


class And(_Many, frozen=True):
    """`a and b and c`."""

    def truth(self, event: Event) -> Truth:
        result: Truth = True
        for operand in self.operands:
            truth = operand.truth(event)
            if truth is False:
                return False
            if truth is None:
                result = None
        return result

    def __str__(self) -> str:
        return " and ".join(f"({each})" if isinstance(each, _Many) else str(each) for each in self.operands)


class Or(_Many, frozen=True):
    """`a or b or c`."""

    def truth(self, event: Event) -> Truth:
        result: Truth = False
        for operand in self.operands:
            truth = operand.truth(event)
            if truth is True:
                return True
            if truth is None:
                result = None
        return result

    def __str__(self) -> str:
        return " or ".join(f"({each})" if isinstance(each, Or) else str(each) for each in self.operands)


class _Pair(Expression, frozen=True):
    left: Expression
    right: Expression

    def children(self) -> tuple[Expression, ...]:
        return (self.left, self.right)


class Xor(_Pair, frozen=True):
    """Exactly one of two; written `(a) <> (b)`. Unknown if either is."""

    def truth(self, event: Event) -> Truth:
        left, right = self.left.truth(event), self.right.truth(event)
        return None if left is None or right is None else left is not right

    def __str__(self) -> str:
        return f"({self.left}) <> ({self.right})"


class Xnor(_Pair, frozen=True):
    """Both or none; written `(a) = (b)`. Unknown if either is."""

    def truth(self, event: Event) -> Truth:
        left, right = self.left.truth(event), self.right.truth(event)
        return None if left is None or right is None else left is right

    def __str__(self) -> str:
        return f"({self.left}) = ({self.right})"
