"""How far a value has to move before a subscriber is told again: the clause `notify price moves 2 per symbol`."""

import math
from typing import Any, Final

import msgspec

from tamis.language.names import name_of, parts_of
from tamis.language.values import literal_text

_MEASURES: Final = ("radius", "relative", "factor")


class Notify(msgspec.Struct, frozen=True, gc=False):
    """What a `notify` clause says: whose value, how far, and whether each key has a last value of its own.

    Exactly one of three says how far: `radius` in units of the value; `relative`, a share of the value told last
    (0.05 for 5%); `factor`, a ratio to it, above 1, for which doubling is as far as halving. With `may`, measured like
    it and not above it, one may be told from there on and must be told at the other (specs/003 F11). `key` is the
    attribute that tells items apart; without one there is one last value for the whole subscription.

    Fields that do not fit are a `ValueError`. Attributes are spelled as conditions spell them.
    """

    attribute: str
    radius: float | None = None
    relative: float | None = None
    factor: float | None = None
    may: float | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        for field in ("attribute", "key"):
            if field == "attribute" or self.key is not None:
                _check_name(getattr(self, field), field)
        given = [field for field in _MEASURES if getattr(self, field) is not None]
        if len(given) != 1:
            raise ValueError("a notify clause has one of radius, relative and factor")
        least = 1 if self.factor is not None else 0
        for field in (*given, "may") if self.may is not None else given:
            number = checked_distance(getattr(self, field), least, field)
            msgspec.structs.force_setattr(self, field, number)
        if self.may is not None and self.may > self.must:
            raise ValueError(f"may is {self.may!r}, but it must not be above {self.must!r}, where one must be told")

    @property
    def must(self) -> float:
        """From how far on one must be told: the radius, share or factor that is given."""
        return next(each for each in (self.radius, self.relative, self.factor) if each is not None)

    def normalized(self) -> "Notify":
        """Return the canonical form: a `may` that says nothing more is left out."""
        return msgspec.structs.replace(self, may=None) if self.may == self.must else self

    def __str__(self) -> str:
        spelled = percent_text if self.relative is not None else literal_text
        amount = spelled(self.must)
        if self.may is not None:
            amount = f"between {spelled(self.may)} and {amount}"
        if self.factor is not None:
            amount = f"by factor {amount}"
        return f"notify {self.attribute} moves {amount}" + (f" per {self.key}" if self.key is not None else "")


def checked_distance(given: Any, least: int, name: str) -> float:
    """Return how far a value has to move as a double, or raise a `ValueError` that says what is wrong with it."""
    if isinstance(given, bool | str) or not hasattr(given, "__float__"):
        raise ValueError(f"{name} is {given!r}, but it must be a number")
    try:
        number = float(given)
    except TypeError:
        raise ValueError(f"{name} is {given!r}, but it must be a number") from None
    except OverflowError:
        number = math.inf
    if not number > least or math.isinf(number):
        raise ValueError(f"{name} is {given!r}, but it must be above {least} and finite")
    return number


def share(token: str) -> float:
    """Return the share that so many per cent are: the double nearest to it, not that of a rounded division."""
    mantissa, mark, exponent = token.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    whole = whole.rjust(3, "0")
    return float(f"{whole[:-2]}.{whole[-2:]}{fraction}{mark}{exponent}")


def percent_text(value: float) -> str:
    """Return a share in per cent, so that `share` gives back exactly the same."""
    mantissa, mark, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction.ljust(2, "0")
    whole, fraction = (whole + fraction[:2]).lstrip("0") or "0", fraction[2:].rstrip("0")
    return f"{whole}{'.' if fraction else ''}{fraction}{mark}{exponent}%"


def _check_name(name: Any, field: str) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError(f"{field} is {name!r}, but it must be the name of an attribute")
    parts = parts_of(name)
    canonical = name_of(*parts)
    if canonical != name or not all(parts):
        raise ValueError(f"{field} is {name!r}, which is not how conditions spell the name of an attribute")
