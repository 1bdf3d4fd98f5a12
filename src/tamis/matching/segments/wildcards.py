"""Patterns of `like` as numbers, which a kernel compares with the UTF-8 bytes of a text."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from tamis.compiled import kernel
from tamis.language.tree import Like
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.automaton import Octets

#: What a code stands for that is no byte: one character, any text, and the end of the pattern.
ONE, ANY, END = 256, 257, 258

#: A fixed text, `ONE` or `ANY`.
Token: TypeAlias = bytes | int

_WILDCARDS: Final = re.compile("(%+|_)")


def utf8(text: str) -> bytes:
    """Return the UTF-8 bytes of a text. Lone surrogates, which a Python string may hold, are written like the rest."""
    return str.encode(text, "utf-8", "surrogatepass")


def utf8_rows(array: pa.Array) -> tuple[Octets, Longs]:
    """Return the bytes of an array of strings, not copied, and the places in them at which rows begin and end."""
    large = pa.types.is_large_string(array.type)
    if not large and not pa.types.is_string(array.type):
        raise TypeError(f"strings are read from arrays of type string or large_string, not {array.type}")
    _, offsets, data = array.buffers()
    size = np.dtype(np.int64 if large else np.int32)
    places = np.zeros(1, np.int64)
    if len(array):
        places = np.frombuffer(offsets, size, len(array) + 1, array.offset * size.itemsize).astype(np.int64)
    octets = np.frombuffer(data if data is not None else b"", np.uint8)
    # A kernel would be compiled once more for bytes that may be written.
    octets.flags.writeable = False
    return octets, places


def tokens(like: Like) -> list[Token]:
    """Take a pattern apart, or raise `BadPatternError`. No two fixed texts and no two `ANY` stand side by side."""
    parts: Iterable[object]
    if like.escape is None:
        # `Like.pattern` compiles a regular expression, which takes 50 µs: too long for 100,000 patterns.
        parts = _WILDCARDS.split(like.text)
        parts = (part if number % 2 == 0 else None if part == "_" else ... for number, part in enumerate(parts))
    else:
        pattern = like.pattern
        parts = (pattern.prefix, *(pattern.middle or ()), pattern.suffix)
    return [utf8(part) if isinstance(part, str) else ONE if part is None else ANY for part in parts if part != ""]


def codes(parts: Sequence[Token]) -> list[int]:
    """Return the tokens of a pattern as `fits` reads them."""
    found: list[int] = []
    for part in parts:
        if isinstance(part, bytes):
            found.extend(part)
        else:
            found.append(part)
    found.append(END)
    return found


@kernel
def fits(program: Ints, at: int, data: Octets, low: int, high: int) -> bool:
    """Return whether the text `data[low:high]` fits the pattern whose codes begin at `program[at]`.

    What stands between two `%` is fitted at the first place that will do, as no later one can leave more room.
    """
    place = low
    after = -1
    tried = low
    while True:
        code = program[at]
        if code == ANY:
            at += 1
            after, tried = at, place
            if program[at] == END:
                return True
            continue
        if code == END:
            if place == high:
                return True
        elif place >= high:
            return False
        elif code == ONE:
            place += _length(data[place])
            at += 1
            continue
        elif code == data[place]:
            place += 1
            at += 1
            continue
        if after < 0 or tried >= high:
            return False
        tried += _length(data[tried])
        at, place = after, tried


@kernel
def _length(first: int) -> int:
    """Return how many bytes a character has that begins with a byte."""
    if first < 0x80:
        return 1
    if first < 0xE0:
        return 2
    return 3 if first < 0xF0 else 4
