"""Why a condition is or is not true of an event."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from tamis.language.tree import And, Expression, Not, Or, Predicate, Truth, Xnor, Xor
from tamis.language.values import ORDERED_KINDS, Kind, literal_text, read

_SIGNS = {True: "✓", False: "✗", None: "?"}
_WORDS = {True: "true", False: "false", None: "unknown"}
_NODES = {And: "all of", Or: "any of", Not: "not", Xor: "exactly one of", Xnor: "both or none of"}


class Explanation(msgspec.Struct, frozen=True):
    """The truth of a condition and of everything in it. `str()` draws it as a tree."""

    condition: str
    #: True, False, or None for unknown.
    truth: Truth
    #: What the event says, for a predicate: `price is 12`.
    because: str
    parts: "tuple[Explanation, ...]" = ()
    #: How many subscriptions of an index contain it, where that is known.
    shared: int | None = None

    @property
    def matched(self) -> bool:
        """Whether the event matches."""
        return self.truth is True

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values, ready for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return {"matched": self.matched, **plain}

    def __str__(self) -> str:
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> list[str]:
        line = f"{'  ' * depth}{_SIGNS[self.truth]} {self.condition if not self.parts else self.because}"
        if not self.parts and self.because:
            line += f"   ({self.because})"
        if self.shared is not None and self.shared > 1:
            line += f"   [shared by {self.shared} subscriptions]"
        return [line, *(line for part in self.parts for line in part._lines(depth + 1))]


#: Tells how many subscriptions contain an expression, or its negation.
Sharing: TypeAlias = Callable[[Expression, bool], int | None]


def explain(
    expression: Expression, event: Mapping[str, Any], sharing: Sharing = lambda *_: None, negated: bool = False
) -> Explanation:
    """Explain a condition on an event, predicate by predicate. `negated` says that it stands under a `not`."""
    truth = expression.truth(event)
    shared = sharing(expression, negated)
    if isinstance(expression, Predicate):
        return Explanation(str(expression), truth, _seen(expression, event, truth), shared=shared)
    below = negated is not isinstance(expression, Not)
    parts = tuple(explain(child, event, sharing, below) for child in expression.children())
    because = f"{_NODES[type(expression)]}: {_WORDS[truth]}" if parts else ""
    return Explanation(str(expression), truth, because, parts, shared)


def _seen(predicate: Predicate, event: Mapping[str, Any], truth: Truth) -> str:
    kind, value = read(event, predicate.attribute)
    if kind is Kind.NULL:
        return f"{predicate.attribute} is missing or null"
    shown = f"{predicate.attribute} is {literal_text(value) if kind in ORDERED_KINDS else repr(value)}"
    return shown if truth is not None else f"{shown}, which does not compare"
