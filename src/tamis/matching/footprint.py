"""How many bytes a structure takes: every object reachable from it, each once."""

import enum
import sys
from typing import Any

import msgspec
import numpy as np


def footprint(*roots: Any) -> int:
    """Return the bytes of containers, structs, arrays and plain values below the roots."""
    seen: set[int] = set()
    waiting = list(roots)
    total = 0
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, enum.Enum | type):
            continue
        seen.add(id(each))
        total += each.nbytes if isinstance(each, np.ndarray) and each.base is not None else sys.getsizeof(each)
        if isinstance(each, dict):
            waiting.extend(each.keys())
            waiting.extend(each.values())
        elif isinstance(each, list | tuple | set | frozenset):
            waiting.extend(each)
        elif isinstance(each, msgspec.Struct):
            waiting.extend(getattr(each, name) for name in each.__struct_fields__)
    return total
