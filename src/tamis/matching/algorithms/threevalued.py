"""Plain matching in the A-Tree (specs/002 §7, Alg. 24): truth and falsehood propagate, and negation is a node.

This is what zero suppression is measured against, and an oracle for it; it is not registered as an engine.
"""

from itertools import repeat
from typing import Final, NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.language import And, Constant, Expression, IsNull, Not, Predicate, Xnor, Xor
from tamis.matching.algorithms.atree import LAST_TICK, ATree
from tamis.matching.algorithms.nodes import (
    COUNT,
    ENDS,
    LEVEL,
    NONE,
    NOT,
    ONLY_FALSE,
    ONLY_TRUE,
    OP,
    OWNER,
    PARENT_NEXT,
    SIGNED,
    START,
    TOP_LEVEL,
    WAKES,
    XNOR,
    XOR,
    Matrix,
)
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.forms import ALL, ANY, FALSE, LEAF, TRUE, Forms
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates, enter, leave
from tamis.matching.ranks.listing import Listed, find_met
from tamis.matching.ranks.lists import Ints, Longs

# What a thread knows of a node during an event: when it was last queued, true and false, and which node follows it.
_QUEUED, _TRUE, _FALSE, _NEXT = range(4)
_FIELDS: Final = 4


class PlainForms(Forms):
    """Writes forms with negation: predicates in both senses, `not`, `xor` and `xnor` as connectives of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._known = {}, {}

    def _write(self, expression: Expression, negated: bool, around: int) -> int:
        match expression:
            case Constant(value=value):
                return TRUE if value else FALSE
            case Predicate():
                return self._signed(expression)
            case Not(operand=operand):
                return self._negated(self._write(operand, negated, LEAF))
            case Xor(left=left, right=right) | Xnor(left=left, right=right):
                return self._parity(left, right, isinstance(expression, Xor))
        tag = ALL if isinstance(expression, And) else ANY
        return self._join(tag, zip(expression.children(), repeat(negated)), around)

    def _negated(self, parts: int) -> int:
        if parts < 0:
            return FALSE if parts == TRUE else TRUE
        self.codes.append(-NOT)
        return 1

    def _parity(self, left: Expression, right: Expression, differ: bool) -> int:
        parts = sorted((self._write(left, False, LEAF), self._write(right, False, LEAF)))
        if parts[0] > 0:
            self.codes.append(-(XOR if differ else XNOR))
            return 1
        # What is constant leaves the other side as it is, or turns it round.
        return self._negated(parts[1]) if (parts[0] == TRUE) is differ else parts[1]

    def _signed(self, predicate: Predicate) -> int:
        true, false = (self._predicate(predicate, negated, LEAF) for negated in (False, True))
        if true < 0 and false < 0:
            # What is never known is what is never true and never false.
            nothing = IsNull(predicate.attribute)
            self._predicate(nothing, False, LEAF)
            self._predicate(nothing, True, LEAF)
            self.codes.append(2 << 2 | ALL)
        self.codes.append(-(SIGNED if min(true, false) > 0 else ONLY_FALSE if false > 0 else ONLY_TRUE))
        return 1


class Graph(NamedTuple):
    """What matching reads of the nodes."""

    node: Matrix
    child: Ints
    link: Matrix
    of_predicate: Ints
    after: Ints


class PlainATree(ATree):
    """An A-Tree without zero suppression and propagation on demand."""

    forms = PlainForms

    def __init__(self) -> None:
        super().__init__(demand=False, words=False)

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        arrays = self.nodes.arrays
        clock = self.scratch("clock", 1)
        known = self.scratch("known", _FIELDS * len(arrays.node))
        if clock[0] > LAST_TICK - events.rows:
            clock[0] = known[:] = 0
        return _search(
            first,
            last,
            events,
            self.listing.view(),
            self.predicates(),
            Graph(arrays.node, arrays.child, arrays.link, arrays.of_predicate, arrays.after),
            self.ranks(),
            self.scratch("met", self.space.top),
            known,
            np.full(int(arrays.state[TOP_LEVEL]) + 2, NONE, np.int32),
            clock,
            self.top,
            ends,
            out,
            work,
        )


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    listed: Listed,
    predicates: Predicates,
    graph: Graph,
    ranks: Ints,
    met: Ints,
    known: Ints,
    heads: Ints,
    clock: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    node, child, link, of_predicate, after = graph
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        enter(row, events, predicates.rank, ranks)
        clock[0] += 1
        now = clock[0]
        for number in range(find_met(row, events, ranks, listed, predicates, met)):
            each = of_predicate[met[number]]
            known[_FIELDS * each + _NEXT] = heads[1]
            heads[1] = each
        for level in range(1, len(heads)):
            each = heads[level]
            heads[level] = NONE
            while each != NONE:
                op = node[each, OP]
                if op != LEAF and op < SIGNED:
                    work[CANDIDATES] += 1
                    work[TESTS] += node[each, COUNT]
                truth = _truth(each, now, node, child, known)
                if truth != 0:
                    known[_FIELDS * each + (_TRUE if truth > 0 else _FALSE)] = now
                    slot = node[each, WAKES]
                    while slot != NONE:
                        owner = link[slot, OWNER]
                        slot = link[slot, PARENT_NEXT]
                        if known[_FIELDS * owner + _QUEUED] != now:
                            known[_FIELDS * owner + _QUEUED] = now
                            known[_FIELDS * owner + _NEXT] = heads[node[owner, LEVEL]]
                            heads[node[owner, LEVEL]] = owner
                position = node[each, ENDS] if truth > 0 else NONE
                while position != NONE:
                    out[used] = position
                    used += 1
                    position = after[position]
                each = known[_FIELDS * each + _NEXT]
        leave(row, events, ranks)
        ends[row] = used
    return last


@kernel
def _truth(each: int, now: int, node: Matrix, child: Ints, known: Ints) -> int:
    """Return 1 for true, -1 for false and 0 for unknown. Lower levels are done."""
    op, start, count = node[each, OP], node[each, START], node[each, COUNT]
    if op == LEAF:
        return 1
    true = false = 0
    for slot in range(start, start + count):
        true += known[_FIELDS * child[slot] + _TRUE] == now
        false += known[_FIELDS * child[slot] + _FALSE] == now
    if op == ALL:
        return -1 if false else int(true == count)
    if op == ANY:
        return 1 if true else -int(false == count)
    if op == NOT:
        return false - true
    if op in (XOR, XNOR):
        return 0 if true + false < count else 1 if (true == 1) == (op == XOR) else -1
    if op == ONLY_FALSE or (op == SIGNED and known[_FIELDS * child[start] + _TRUE] != now):
        return -int(true > 0)
    return int(true > 0)
