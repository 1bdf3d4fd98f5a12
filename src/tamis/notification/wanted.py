"""What a subscriber asks for: how far the value has to move, in one of three laws, with or without a may-radius."""

from typing import Any, NamedTuple

import numpy as np

from tamis.notification.circle import Doubles
from tamis.notification.law import LAWS, Law, checked_radius

Id = str | int


class Wanted(NamedTuple):
    """A law and both radii, which are equal where there is only one."""

    law: Law
    may: float
    must: float

    @property
    def loose(self) -> bool:
        """Whether there are two radii."""
        return self.may < self.must


def wanted(radius: float | None, relative: float | None, factor: float | None, may: float | None) -> Wanted:
    """Return what the options of a subscription ask for, or raise a `ValueError` that says what is wrong."""
    given: dict[Law, Any] = {"absolute": radius, "relative": relative, "factor": factor}
    named = [(law, each) for law, each in given.items() if each is not None]
    if len(named) != 1:
        raise ValueError("a subscription has one of radius, relative and factor")
    law, asked = named[0]
    must = checked_radius(asked, law, "radius" if law == "absolute" else law)
    if may is None:
        return Wanted(law, must, must)
    least = checked_radius(may, law, "may")
    if least > must:
        raise ValueError(f"may is {may!r}, but it must not be above {asked!r}, from where on one must be told")
    return Wanted(law, least, must)


def wanted_many(radii: Any, law: Law, mays: Any) -> tuple[Doubles, Doubles]:
    """Return both radii of many subscriptions as arrays, or raise a `ValueError` that names the first bad row."""
    must = np.ascontiguousarray(radii, np.float64)
    may = must if mays is None else np.ascontiguousarray(mays, np.float64)
    if must.ndim != 1 or may.shape != must.shape:
        raise ValueError("radii, and mays if there are any, are columns of one length")
    least = 1 if law == "factor" else 0
    bad = ~((may > least) & (may <= must) & np.isfinite(must))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        pair = f"{must[row]}" if mays is None else f"{may[row]}, {must[row]}"
        raise ValueError(
            f"row {row}: the radius is {pair}, but it must be above {least} and finite, may not above must"
        )
    return may, must


def checked_id(id: object, what: str = "an id") -> Id:
    """Return an id, or raise a `ValueError`."""
    if not isinstance(id, str | int) or isinstance(id, bool):
        raise ValueError(f"{what} is a string or an integer, not {type(id).__name__}")
    return id


def checked_law(law: str) -> Law:
    """Return the name of a law, or raise a `ValueError`."""
    if law not in LAWS:
        raise ValueError(f"there is no law {law!r}; there are: {', '.join(LAWS)}")
    return law
