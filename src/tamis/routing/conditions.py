"""Conditions as brokers know them: texts in canonical spelling, so that equal ones are seen to be equal."""

from typing import Literal, NamedTuple, TypeAlias

from tamis.covering.containment import Shape, intersects, meeting, shape
from tamis.language import Expression, ExpressionError, Notify, parse, parse_subscription
from tamis.routing.remembered import remembered

#: How it is decided whether two conditions have events in common; see `tamis.intersects`.
Mode: TypeAlias = Literal["sound", "thesis"]


@remembered
def canonical(text: str) -> str:
    """Return the canonical spelling of a condition. A text that is none is an `ExpressionError`."""
    return str(parse(text).normalized())


def is_canonical(text: str) -> bool:
    """Say whether a text is a condition in canonical spelling."""
    try:
        return canonical(text) == text
    except ExpressionError:
        return False


class Asked(NamedTuple):
    """What a subscription asks for: a condition in canonical spelling, which alone spreads, and its clause, if any."""

    condition: str
    notify: Notify | None

    def __str__(self) -> str:
        return self.condition if self.notify is None else f"{self.condition} {self.notify}"


@remembered
def asked(text: str) -> Asked:
    """Return what a subscription asks for. A text that is none is an `ExpressionError`."""
    normal = parse_subscription(text).normalized()
    return Asked(str(normal.condition), normal.notify)


@remembered
def parsed(text: str) -> Expression:
    """Return what a condition means. All brokers of a process share it."""
    return parse(text)


@remembered
def _shaped(text: str) -> Shape:
    return shape(parsed(text))


@remembered
def may_meet(advert: str, condition: str, mode: Mode = "sound") -> bool:
    """Return whether some event may meet both an advertisement and a condition."""
    if mode == "thesis":
        return intersects(parsed(advert), parsed(condition), mode)
    return meeting(_shaped(advert), _shaped(condition)) is not False
