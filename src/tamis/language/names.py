"""Attribute names: `price`, `order.item.price`, and with back-ticks anything at all.

Inside Tamis an attribute is one string in canonical form: parts joined by dots, a part quoted with back-ticks
only where it is not a plain identifier.
"""

import re
from functools import lru_cache
from typing import Final

#: Words that name an attribute only between back-ticks.
RESERVED: Final = frozenset({"and", "or", "not", "in", "between", "like", "is", "null", "true", "false"})

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


def quoted(part: str) -> str:
    """Return one part of a name as it is written in a condition."""
    if _PLAIN.fullmatch(part) and part.lower() not in RESERVED:
        return part
    return "`" + part.replace("`", "``") + "`"


def name_of(*parts: str) -> str:
    """Return the canonical name of the attribute with these parts."""
    return ".".join(quoted(part) for part in parts)


@lru_cache(maxsize=65_536)
def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a canonical name: the keys to follow into a nested event."""
    return tuple(match[1].replace("``", "`") if match[2] is None else match[2] for match in _PART.finditer(name))
