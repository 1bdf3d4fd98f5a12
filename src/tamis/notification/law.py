"""When has a value moved enough? The predicate that every structure and the oracle share (specs/003 §0, F12).

A subscription with centre `c` is affected by `d` if `d <= low(c, radius)` or `d >= high(c, radius)`. The ends are
doubles, computed by these two functions alone, so that all structures agree to the last bit. Both are monotone in the
radius, and, but for the relative law, in the centre.
"""

import math
from typing import Final, Literal, get_args

from tamis.compiled import inlined

#: How a radius is measured: `absolute` in units of the value; `relative` as a share `p` of the centre; `factor` as a
#: ratio `f` to the centre, for which up and down are alike.
Law = Literal["absolute", "relative", "factor"]
LAWS: Final[tuple[Law, ...]] = get_args(Law)
LAW_COUNT: Final = 3

ABSOLUTE: Final = 0
RELATIVE: Final = 1
FACTOR: Final = 2


@inlined
def low(law: int, centre: float, radius: float) -> float:
    """Return the greatest value below a centre that is far enough from it."""
    if law == 0:
        return centre - radius
    if law == 1:
        return centre - centre * radius
    return centre / radius


@inlined
def high(law: int, centre: float, radius: float) -> float:
    """Return the smallest value above a centre that is far enough from it."""
    if law == 0:
        return centre + radius
    if law == 1:
        return centre + centre * radius
    return centre * radius


def checked_radius(radius: object, law: Law = "absolute", name: str = "radius") -> float:
    """Return a radius as a double, or raise a `ValueError` that says what is wrong with it."""
    number = _number(radius, name)
    least = 1 if law == "factor" else 0
    if not number > least or math.isinf(number):
        raise ValueError(f"{name} is {radius!r}, but it must be above {least} and finite")
    return number


def checked_value(value: object, law: Law = "absolute") -> float:
    """Return a value as a double, or raise a `ValueError` that says what is wrong with it."""
    number = _number(value, "value")
    if not math.isfinite(number):
        raise ValueError(f"value is {value!r}, but it must be a finite number")
    if law != "absolute" and number <= 0:
        raise ValueError(f"value is {value!r}, but there are {law} radii, which need values above 0")
    return number


def _number(given: object, name: str) -> float:
    if isinstance(given, bool) or not hasattr(given, "__float__"):
        raise ValueError(f"{name} is {given!r}, but it must be a number")
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} is {given!r}, but it must be a number that a double can hold") from error
