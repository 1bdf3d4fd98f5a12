"""How a token becomes a value. What is wrong with one is raised as `ValueError` with the message to show."""

import datetime as dt
import math
import re

from tamis.language.limits import MAX_INTEGER, MIN_INTEGER

_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?))?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INTEGER_DIGITS = 19


def number(token: str, negative: bool) -> int | float:
    """Return a number. A double without a fraction becomes the integer it equals, if that has 64 bits."""
    if token.isdigit():
        value = int(token) if len(token) <= _INTEGER_DIGITS else _long_integer(token)
        value = -value if negative else value
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            raise ValueError("this integer does not fit in 64 bits; write it with a point for a double")
        return value
    double = float(token)
    if math.isinf(double):
        raise ValueError("this number is too large for a double")
    double = -double if negative else double
    if double.is_integer() and MIN_INTEGER <= double <= MAX_INTEGER:
        return int(double)
    return double


def _long_integer(token: str) -> int:
    digits = token.lstrip("0")
    return int(digits or "0") if len(digits) <= _INTEGER_DIGITS else MAX_INTEGER + 2


def string(token: str) -> str:
    """Return the text of a quoted token; a backslash is a character like any other."""
    return token[1:-1].replace("''", "'")


def timestamp(text: str) -> dt.datetime:
    """Return an instant in UTC; a text without a zone is in UTC."""
    match = _TIMESTAMP.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        value = dt.datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00'}{match[3] or 'Z'}")
        return value.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise ValueError("expected a timestamp like '2026-01-31 12:30:00' or '2026-01-31T12:30:00+02:00'") from None


def date(text: str) -> dt.date:
    """Return a day."""
    try:
        if _DATE.fullmatch(text) is None:
            raise ValueError
        return dt.date.fromisoformat(text)
    except ValueError:
        raise ValueError("expected a date like '2026-01-31'") from None
