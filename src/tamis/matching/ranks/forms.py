"""Conditions without negation, as numbers that kernels can read: what engines for arbitrary expressions are built from.

A *form* is a condition in reverse Polish notation, over predicates in rank space. Each number is `value << 2 | tag`:

    LEAF    the predicate `value`
    ALL     the conjunction of the last `value` parts
    ANY     the disjunction of the last `value` parts
    SAME    once more what ended at the place `value` of this form

Negation is pushed into the predicates, where "unknown" may be treated as "false" (specs/002 §7). A connective never has
less than two parts, and none with the same connective unless a constant fell away between them. `xor` needs each
side in both senses; `SAME` keeps nested ones from growing exponentially, as the specification asks.
"""

from array import array
from collections.abc import Iterable
from itertools import repeat
from typing import Final, TypeAlias

import numpy as np

from tamis.compiled import kernel
from tamis.language import And, Constant, Expression, Not, Or, Predicate, Xnor, Xor
from tamis.language.valueset import true_for
from tamis.matching.ranks.lists import Longs
from tamis.matching.ranks.space import Wanted, conditions

LEAF, ALL, ANY, SAME = range(4)

#: What stands for a condition that is always or never met, where otherwise the number of parts stands.
TRUE: Final = -1
FALSE: Final = -2
_NEUTRAL: Final = {ALL: TRUE, ANY: FALSE}
#: What a connective is written as, and what it is negated.
_TAGS: Final[tuple[dict[type[Expression], int], dict[type[Expression], int]]] = (
    {And: ALL, Or: ANY, Xor: ANY, Xnor: ANY},
    {And: ANY, Or: ALL, Xor: ANY, Xnor: ANY},
)

#: An expression, and whether it is negated.
_Signed: TypeAlias = tuple[Expression, bool]


class Forms:
    """Writes forms one behind the other. Predicates have the numbers of `wanted` until `resolve`."""

    def __init__(self) -> None:
        self.wanted = Wanted()
        self.codes = array("q")
        #: Predicates that are one code each, as they are and negated.
        self._known = self.wanted.known
        #: Where each form begins, and where the last one ends.
        self.offsets = [0]
        #: By subexpression and sense: the place in the current form where it ended. Only below `xor`.
        self._ended: dict[tuple[int, bool], int] = {}
        self._below_xor = 0

    def write(self, expression: Expression) -> bool | None:
        """Write the form of an expression. What is always or never met has none: that is told instead."""
        self._ended.clear()
        parts = self._write(expression, False, LEAF)
        if parts < 0:
            return parts == TRUE
        self.offsets.append(len(self.codes))
        return None

    def uses(self) -> list[int]:
        """Return how often each wanted predicate occurs."""
        counts: list[int] = np.bincount(leaves_of(np.array(self.codes, np.int64)), minlength=self.wanted.count).tolist()
        return counts

    def resolve(self, numbers: list[int]) -> tuple[Longs, Longs]:
        """Return the offsets and codes of all forms, with predicates as they are numbered in rank space."""
        codes = np.array(self.codes, np.int64)
        leaves = (codes & 3) == LEAF
        codes[leaves] = np.array(numbers, np.int64)[codes[leaves] >> 2] << 2
        return np.array(self.offsets, np.int64), codes

    def _write(self, expression: Expression, negated: bool, around: int) -> int:
        """Write an expression and return how many parts it adds to the connective around it."""
        tag = _TAGS[negated].get(type(expression))
        if tag is None:
            return self._single(expression, negated, around)
        known = self._ended.get((id(expression), negated)) if self._below_xor and tag != around else None
        if known is not None:
            self.codes.append(known << 2 | SAME)
            return 1
        if type(expression) is Xor or type(expression) is Xnor:
            parts = self._either(expression, negated, around)
        else:
            parts = self._join(tag, zip(expression.children(), repeat(negated)), around)
        if parts == 1 and self._below_xor:
            self._ended[id(expression), negated] = len(self.codes) - 1 - self.offsets[-1]
        return parts

    def _single(self, expression: Expression, negated: bool, around: int) -> int:
        """Write what is no connective of several parts."""
        if isinstance(expression, Predicate):
            return self._predicate(expression, negated, around)
        if isinstance(expression, Not):
            return self._write(expression.operand, not negated, around)
        assert isinstance(expression, Constant)
        return TRUE if expression.value is not negated else FALSE

    def _join(self, tag: int, operands: Iterable[_Signed], around: int) -> int:
        begin, count = len(self.codes), 0
        for operand, negated in operands:
            number = self._known[negated].get(operand)
            if number is not None:
                self.codes.append(number << 2)
                count += 1
                continue
            parts = self._write(operand, negated, tag)
            if parts > 0:
                count += parts
            elif parts != _NEUTRAL[tag]:
                return self._withdraw(begin, parts)
        return self._close(tag, count, around)

    def _either(self, expression: Xor | Xnor, negated: bool, around: int) -> int:
        """Write `left and not right or not left and right`, or for `xnor` both or neither."""
        differ = isinstance(expression, Xor) is not negated
        begin, count = len(self.codes), 0
        self._below_xor += 1
        for sense in (False, True):
            parts = self._join(ALL, ((expression.left, sense), (expression.right, sense is not differ)), ANY)
            if parts == TRUE:
                count = TRUE
                break
            count += max(parts, 0)
        self._below_xor -= 1
        return self._withdraw(begin, TRUE) if count == TRUE else self._close(ANY, count, around)

    def _close(self, tag: int, count: int, around: int) -> int:
        if count == 0:
            return _NEUTRAL[tag]
        if tag == around:
            return count
        if count > 1:
            self.codes.append(count << 2 | tag)
        return 1

    def _withdraw(self, begin: int, truth: int) -> int:
        """Take back what was written since a place, because it does not matter."""
        del self.codes[begin:]
        begin -= self.offsets[-1]
        self._ended = {key: place for key, place in self._ended.items() if place < begin}
        return truth

    def _predicate(self, predicate: Predicate, negated: bool, around: int) -> int:
        number = self.wanted.spelled(predicate, negated)
        if number is not None:
            self.codes.append(number << 2)
            return 1
        values = true_for(predicate.negation() if negated else predicate)
        if values.is_empty or values.is_full:
            return TRUE if values.is_full else FALSE
        count = 0
        for name, keys in conditions(predicate.attribute, values):
            self.codes.append(self.wanted.number(name, keys) << 2)
            count += 1
        return self._close(ALL, count, around)


def leaves_of(codes: Longs) -> Longs:
    """Return the predicates in forms, one for each time that it occurs."""
    leaves: Longs = codes[(codes & 3) == LEAF] >> 2
    return leaves


@kernel
def begin_of(codes: Longs, offset: int, place: int) -> int:
    """Return where the part begins that ends at a place of the form at an offset. `SAME` is a part by itself."""
    missing = 1
    while True:
        code = codes[offset + place]
        missing -= 1
        if code & 3 == ALL or code & 3 == ANY:
            missing += code >> 2
        if missing == 0:
            return place
        place -= 1


def expanded(codes: Longs) -> Longs:
    """Return one form with every `SAME` written out."""
    found: list[int] = []
    #: By place: where it went.
    ends: list[int] = []
    for code in codes.tolist():
        if code & 3 == SAME:
            last = ends[code >> 2]
            part = found[begin_of(np.array(found, np.int64), 0, last) : last + 1]
            found += part
        else:
            found.append(code)
        ends.append(len(found) - 1)
    return np.array(found, np.int64)
