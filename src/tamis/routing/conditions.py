"""Conditions as brokers know them: texts in canonical spelling, so that equal ones are seen to be equal."""

from functools import lru_cache
from typing import Final

from tamis.language import Expression, parse

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
