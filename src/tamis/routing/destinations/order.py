"""Names of brokers in one total order, and marks that stand for names where these must not be known."""

from functools import lru_cache
from typing import Final

from xxhash import xxh3_64_intdigest

from tamis.routing.packets import Name

#: So many marks are remembered, for all brokers of a process together.
REMEMBERED: Final = 1 << 16


def order(name: Name) -> tuple[bool, Name]:
    """Return what names are sorted by: all integers come before all texts."""
    return isinstance(name, str), name


@lru_cache(REMEMBERED)
def mark(name: Name) -> int:
    """Return a number by which a broker recognises itself on a path, and from which others do not learn its name."""
    return xxh3_64_intdigest(repr(name).encode())
