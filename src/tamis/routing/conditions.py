"""Conditions as brokers know them: texts in canonical spelling, so that equal ones are seen to be equal."""

from functools import lru_cache
from typing import Final, Literal, TypeAlias

from tamis.covering.containment import Shape, intersects, meeting, shape
from tamis.language import Expression, parse

#: How it is decided whether two conditions have events in common; see `tamis.intersects`.
Mode: TypeAlias = Literal["sound", "thesis"]

#: So many conditions are kept parsed, for all brokers of a process together.
REMEMBERED: Final = 1 << 18


@lru_cache(REMEMBERED)
def canonical(text: str) -> str:
    """Return the canonical spelling of a condition. A text that is none is an `ExpressionError`."""
    return str(parse(text).normalized())


@lru_cache(REMEMBERED)
def parsed(text: str) -> Expression:
    """Return what a condition means. All brokers of a process share it."""
    return parse(text)


@lru_cache(REMEMBERED)
def _shaped(text: str) -> Shape:
    return shape(parsed(text))


@lru_cache(4 * REMEMBERED)
def may_meet(advert: str, condition: str, mode: Mode = "sound") -> bool:
    """Return whether some event may meet both an advertisement and a condition."""
    if mode == "thesis":
        return intersects(parsed(advert), parsed(condition), mode)
    return meeting(_shaped(advert), _shaped(condition)) is not False
