"""Rows of a segment as expressions again: for conditions that came as columns and have no text."""

import math
import sys
from typing import Any

import numpy as np

from tamis.language import Constant, Expression
from tamis.language.columns import from_integer, threshold
from tamis.language.limits import MAX_INTEGER, MIN_INTEGER
from tamis.language.normal import Atom, Form, conjunction, disjunction, spelled
from tamis.language.ranges import Ranges
from tamis.language.values import ORDERED_KINDS, Kind
from tamis.language.valueset import ValueSet
from tamis.matching.segments.cuts import BOUNDARY, NO_INTEGER, Cuts
from tamis.matching.segments.draft import ALL
from tamis.matching.segments.lines import Lines
from tamis.matching.segments.rows import LOOSE, Rows

_FLOAT, _INTEGER = np.dtype(np.float64), np.dtype(np.int64)


def expression_of(row: int, lines: Lines, rows: Rows) -> Expression:
    """Return a row as an expression that means the same."""
    if row >= rows.ends[LOOSE]:
        return Constant(False)
    terms = rows.terms[3 * rows.term_start[row] : 3 * rows.term_start[row + 1]].reshape(-1, 3).tolist()
    parts: list[Form] = [_atom(lines, *term) for term in terms]
    code = rows.code[3 * rows.code_start[row] : 3 * rows.code_start[row + 1]].reshape(-1, 3).tolist()
    if code:
        parts.append(_form(code, 0, lines)[0])
    return spelled(conjunction(parts))


def _form(code: list[list[int]], at: int, lines: Lines) -> tuple[Form, int]:
    """Return what begins at a place of code, and where it ends."""
    on, length, _ = code[at]
    if on >= 0:
        return _atom(lines, *code[at]), at + 1
    end, parts = at + length, []
    at += 1
    while at < end:
        part, at = _form(code, at, lines)
        parts.append(part)
    return (conjunction if on == ALL else disjunction)(parts), end


def _atom(lines: Lines, on: int, low: int, high: int) -> Atom:
    name = lines.names[on]
    if not isinstance(name, str):
        raise TypeError(f"{name} is a filter, which has a text")
    cuts = lines.cuts
    null = low == lines.base[on]
    first, last = (int(cuts.kind[low]), low), (int(cuts.kind[high]), high)
    ordered = tuple(_ranges(cuts, int(kind), first, last) for kind in ORDERED_KINDS)
    other = first <= (int(Kind.OTHER), low) and last[0] > Kind.OTHER
    return Atom(name, ValueSet(bool(null), ordered, other))


def _ranges(cuts: Cuts, kind: int, low: tuple[int, int], high: tuple[int, int]) -> Ranges:
    """Return the values of a kind between two cuts, each with its kind."""
    starts = low[0] < kind or (low[0] == kind and bool(cuts.flag[low[1]] == BOUNDARY))
    ends = high[0] > kind
    if low[0] > kind or high[0] < kind or (high[0] == kind and cuts.flag[high[1]] == BOUNDARY):
        return Ranges(False, ())
    found = () if starts else (_cut(cuts, low[1]),)
    return Ranges(starts, found if ends else (*found, _cut(cuts, high[1])))


def _cut(cuts: Cuts, at: int) -> tuple[Any, int]:
    """Return a cut as a value and a side."""
    kind = Kind(int(cuts.kind[at]))
    whole, real = int(cuts.whole[at]), float(cuts.real[at])
    if kind is Kind.STRING:
        text = cuts.text[cuts.offset[at] : cuts.offset[at + 1]].tobytes()
        side = int(text.endswith(b"\0"))
        return text[: len(text) - side].decode("utf-8", "surrogatepass"), side
    if kind is not Kind.NUMBER:
        return _boolean(whole) if kind is Kind.BOOLEAN else (from_integer(kind, whole), 0)
    beyond = None if cuts.flag[at] == NO_INTEGER else whole
    if math.isinf(real):
        return sys.float_info.max, 1
    before = math.nextafter(real, -math.inf)
    found = [
        (_plain(value), side)
        for value, side in ((whole, 0), (whole - 1, 1), (real, 0), (before, 1))
        if math.isfinite(value)
        and (threshold((value, side), _FLOAT), threshold((value, side), _INTEGER)) == (real, beyond)
    ]
    # Of two doubles side by side, that which somebody wrote is the shorter one.
    return min(found, key=lambda cut: len(str(cut[0])))


def _plain(value: float) -> float:
    """Return a number as it is read: a double without a fraction is the integer it equals, if that has 64 bits."""
    return int(value) if float(value).is_integer() and MIN_INTEGER <= value <= MAX_INTEGER else value


def _boolean(whole: int) -> tuple[bool, int]:
    return (bool(whole), 0) if whole < 2 else (True, 1)
