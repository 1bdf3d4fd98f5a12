"""The nodes of an A-Tree (specs/002 §7; thesis ch. 9): how they are shared, covered, levelled and let go.

A node is a predicate or a connective over other nodes, its *operands*; equal ones are one node. What a node reads when
it is evaluated are its *children*: its operands, or instead of some of them other nodes of the same connective whose
operands are among them (`a or b or c or d` may read `a or b or c` and `d`). So operands say what a node means and never
change; children say how it finds out, and change as other nodes come and go.

Everything stands in flat arrays. A node is a row of `node`; its operands and children stand in its *slots*:
`operand[start : start + size]`, sorted, and `child[start : start + count]`, never more of them. A slot is also a link
in two lists: of all slots with the same operand (the *users* of that operand) and of all slots with the same child. The
second list is in two parts. A child that turns true *wakes* the owners of the slots in one part; the owners of the
others ask when they need to know (*quiet*).

Corrections and additions to the algorithms 20 to 23, beside those of the specification:

* [ours] Nodes that might cover a part of a new node are not found by climbing from all its operands, which takes
  quadratic time where operands are popular. Every node is *anchored* at its least used operand, and only the nodes
  anchored at the new node's operands are looked at. Nodes that might have the new one as a child are among the
  users of its least used operand. At most `MOST_LOOKED_AT` are looked at in one list.
* [ours] When a node goes that others have as a child, they cover their operands anew instead of taking over its
  children, so that nobody ever has more children than operands.
* [ours] Propagation on demand goes further. In the thesis, only the access child wakes an `and`. Here, besides, a node
  that would wake nobody and ends no subscription is not woken either, predicates included: it is asked.
"""

from collections import Counter
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.matching.ranks.compiled import kernel
from tamis.matching.ranks.forms import ALL, ANY, LEAF, SAME
from tamis.matching.ranks.lists import Bytes, Ints, Longs
from tamis.matching.ranks.selectivity import Floats

NONE: Final = -1

#: Three-valued connectives, which only plain matching has. A code for one of them is its negative, and none of these
#: is a multiple of four, so that it is never taken for a predicate. The last three make a three-valued node of
#: two-valued ones: one that says when it is true and one that says when it is false, in this order, or one alone.
NOT, XOR, XNOR, SIGNED, ONLY_TRUE, ONLY_FALSE = 5, 6, 7, 9, 10, 11
_ONE_OPERAND: Final = (NOT, ONLY_TRUE, ONLY_FALSE)

# The columns of `node`; what matching reads stands first.
OP, LEVEL, NEEDS_LOW, NEEDS_HIGH, START, COUNT, WAKES, ENDS = range(8)
SIZE, USES, QUIET, USERS, ANCHOR, ANCHORED, ANCHOR_NEXT, ANCHOR_BEFORE = range(8, 16)
COLUMNS: Final = 16
#: A predicate has no slots; its number and its dimension stand where they would.
PREDICATE, DIMENSION = START, COUNT
#: What stands in `OP` of a node that is free; free nodes are linked by `START`.
FREE: Final = -1

# The columns of `link`, by slot.
OWNER, PARENT_NEXT, PARENT_BEFORE, PART, USER_NEXT, USER_BEFORE = range(6)
#: In which part of the list of its child a slot is.
APART, AMONG_WAKES, AMONG_QUIET = range(3)

# What stands in `state`: nodes and slots ever used, the first free node, the last mark given, how many nodes wait in
# `stack`, stand in `noted` and in `stale`, how many nodes there are, the highest level there ever was, whether demand
# rules; then the first free block of slots for each power of two.
NODES, SLOTS, FREE_NODE, MARK, WAITING, NOTED, STALE, LIVE, TOP_LEVEL, DEMAND, FREE_SLOTS = range(11)
_CLASSES: Final = 31

#: How many nodes are looked at in one list, and how many of those found one is covered by.
MOST_LOOKED_AT: Final = 128
MOST_CANDIDATES: Final = 64
#: The bits in each of the two words of needed attributes.
WORD_BITS: Final = 31
#: Marks begin anew after this one.
_LAST_MARK: Final = 2**31 - 1
#: How full the table of nodes gets.
_FULL: Final = 0.6
_FIRST_SIZE: Final = 1024

#: What stands for the number of stale nodes when so much is new that all are taken to be.
ALL_STALE: Final = -1
# Flags of a node: it waits in `stack`, it stands in `noted`, it stands in `stale`.
_WAITS, _IS_NOTED, _IS_STALE = 1, 2, 4

Matrix: TypeAlias = npt.NDArray[np.int32]


class Nodes(NamedTuple):
    """What kernels see."""

    node: Matrix
    #: By node: which share of the events is expected to make it true.
    weight: Floats
    #: By node, to work with.
    mark: Ints
    flags: Bytes
    stack: Ints
    #: Predicates that have come to wake somebody, or nobody any more.
    noted: Ints
    #: Nodes of which something changed that matching reads.
    stale: Ints
    operand: Ints
    child: Ints
    link: Matrix
    #: All connectives, by a hash of their operands.
    table: Ints
    #: By predicate.
    of_predicate: Ints
    #: By position: its node, and its neighbours in the list of all positions that end there.
    root: Ints
    after: Ints
    before: Ints
    state: Longs


class NodeStore:
    """The growing arrays of `Nodes`. Kernels need room before they start: see `reserve`."""

    def __init__(self, demand: bool) -> None:
        state = np.zeros(FREE_SLOTS + _CLASSES, np.int64)
        state[FREE_NODE] = state[FREE_SLOTS:] = NONE
        state[DEMAND] = demand
        self.arrays = Nodes(
            node=np.zeros((_FIRST_SIZE, COLUMNS), np.int32),
            weight=np.zeros(_FIRST_SIZE, np.float32),
            mark=np.zeros(_FIRST_SIZE, np.int32),
            flags=np.zeros(_FIRST_SIZE, np.int8),
            stack=np.zeros(_FIRST_SIZE, np.int32),
            noted=np.zeros(_FIRST_SIZE, np.int32),
            stale=np.zeros(_FIRST_SIZE, np.int32),
            operand=np.zeros(_FIRST_SIZE, np.int32),
            child=np.zeros(_FIRST_SIZE, np.int32),
            link=np.zeros((_FIRST_SIZE, 6), np.int32),
            table=np.full(_FIRST_SIZE, NONE, np.int32),
            of_predicate=np.full(_FIRST_SIZE, NONE, np.int32),
            root=np.full(_FIRST_SIZE, NONE, np.int32),
            after=np.full(_FIRST_SIZE, NONE, np.int32),
            before=np.full(_FIRST_SIZE, NONE, np.int32),
            state=state,
        )

    def reserve(self, codes: Longs, used: Ints, predicates: int, positions: int) -> None:
        """Make room for forms that use some predicates, and for predicates and positions below these numbers."""
        arrays = self.arrays
        if len(codes) > arrays.state[LIVE]:
            arrays.state[STALE] = ALL_STALE
        state = arrays.state
        tags = codes & 3
        connectives = codes[(codes < 0) | (tags == ALL) | (tags == ANY)]
        sizes = np.where(connectives < 0, 2, connectives >> 2)
        top_node = int(state[NODES]) + len(sizes) + len(used)
        top_slot = int(state[SLOTS]) + int((1 << np.ceil(np.log2(np.maximum(sizes, 2))).astype(np.int64)).sum())
        table = arrays.table
        if state[LIVE] + len(sizes) > _FULL * len(table):
            table = np.full(1 << int(np.ceil(np.log2((state[LIVE] + len(sizes)) / _FULL))), NONE, np.int32)
            _enter_all(arrays.table, table, arrays.node, arrays.operand)
        self.arrays = arrays._replace(
            node=_longer(arrays.node, top_node),
            weight=_longer(arrays.weight, top_node),
            mark=_longer(arrays.mark, top_node),
            flags=_longer(arrays.flags, top_node),
            stack=_longer(arrays.stack, top_node),
            noted=_longer(arrays.noted, top_node),
            stale=_longer(arrays.stale, top_node),
            operand=_longer(arrays.operand, top_slot),
            child=_longer(arrays.child, top_slot),
            link=_longer(arrays.link, top_slot),
            table=table,
            of_predicate=_longer(arrays.of_predicate, predicates, NONE),
            root=_longer(arrays.root, positions, NONE),
            after=_longer(arrays.after, positions, NONE),
            before=_longer(arrays.before, positions, NONE),
        )

    def stale(self) -> Ints:
        """Return the nodes of which something changed since the last time that matching reads."""
        arrays = self.arrays
        if arrays.state[STALE] == ALL_STALE:
            arrays.flags[:] &= ~_IS_STALE
            found = np.arange(arrays.state[NODES], dtype=np.int32)
        else:
            found = arrays.stale[: arrays.state[STALE]].copy()
            arrays.flags[found] &= ~_IS_STALE
        arrays.state[STALE] = 0
        alive: Ints = found[arrays.node[found, OP] != FREE]
        return alive

    def noted(self) -> Ints:
        """Return the predicates' nodes that have come to wake somebody or nobody since the last time."""
        arrays = self.arrays
        found = arrays.noted[: arrays.state[NOTED]].copy()
        arrays.flags[found] &= ~_IS_NOTED
        arrays.state[NOTED] = 0
        return found

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return int(self.arrays.state[LIVE])

    @property
    def edges(self) -> int:
        """How many children all nodes have together."""
        node = self.arrays.node[: self.arrays.state[NODES]]
        return int(node[node[:, OP] > LEAF, COUNT].sum())

    @property
    def bytes(self) -> int:
        """How much memory the arrays take."""
        return sum(each.nbytes for each in self.arrays)

    @property
    def levels(self) -> int:
        """How many levels there are."""
        node = self.arrays.node[: self.arrays.state[NODES]]
        return int(node[node[:, OP] != FREE, LEVEL].max(initial=0))

    def alive(self) -> list[int]:
        """Return all arrays."""
        found: list[int] = np.flatnonzero(self.arrays.node[: self.arrays.state[NODES], OP] != FREE).tolist()
        return found

    def operands_of(self, node: int) -> list[int]:
        """Return what a connective means."""
        start, size = self.arrays.node[node, START], self.arrays.node[node, SIZE]
        found: list[int] = self.arrays.operand[start : start + size].tolist()
        return found

    def children_of(self, node: int) -> list[int]:
        """Return what a connective reads."""
        start, count = self.arrays.node[node, START], self.arrays.node[node, COUNT]
        found: list[int] = self.arrays.child[start : start + count].tolist()
        return found

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together. Nothing may be noted."""
        arrays = self.arrays
        node, alive = arrays.node, self.alive()
        assert len(alive) == arrays.state[LIVE]
        assert not arrays.state[WAITING]
        assert not (arrays.flags & ~_IS_STALE).any()
        links = {each: self._links(each) for each in alive}
        held: Counter[str] = Counter()
        keys = set()
        for each in alive:
            ending, users, wakes, quiet, anchored = links[each]
            assert all(arrays.root[position] == each for position in ending)
            assert node[each, USES] == len(users) + len(ending) > 0
            assert all(arrays.operand[slot] == each for slot in users)
            assert all(arrays.child[slot] == each for slot in wakes + quiet)
            assert all(node[other, ANCHOR] == each for other in anchored)
            held.update(users=len(users), children=len(wakes + quiet), anchored=len(anchored), ending=len(ending))
            if node[each, OP] == LEAF:
                assert node[each, LEVEL] == 1
                assert arrays.of_predicate[node[each, PREDICATE]] == each
            else:
                keys.add((int(node[each, OP]), tuple(self.operands_of(each))))
                self._check_connective(each)
        connectives = [each for each in alive if node[each, OP] != LEAF]
        assert len(keys) == len(connectives) == (arrays.table != NONE).sum() == held["anchored"]
        assert held["users"] == node[connectives, SIZE].sum()
        assert held["children"] == node[connectives, COUNT].sum()
        assert held["ending"] == (arrays.root != NONE).sum()
        assert (arrays.of_predicate != NONE).sum() == len(alive) - len(connectives)

    def _check_connective(self, each: int) -> None:
        arrays, node = self.arrays, self.arrays.node
        op, operands, children = node[each, OP], self.operands_of(each), self.children_of(each)
        place = find_connective(op, np.array(operands, np.int32), arrays.table, node, arrays.operand)
        assert arrays.table[place] == each
        assert node[each, ANCHOR] in operands
        assert node[each, LEVEL] == 1 + max(int(node[child, LEVEL]) for child in children)
        assert len(children) <= len(operands)
        covered: list[int] = []
        for child in children:
            covered += [child] if child in operands else self.operands_of(child)
            assert child in operands or node[child, OP] == op
        assert set(covered) == set(operands)
        if op <= ANY:
            assert len(set(children)) == len(children)
        demand = bool(arrays.state[DEMAND])
        told = not demand or is_awake(each, node)
        for number in range(len(children)):
            woken = told and (number == 0 or op != ALL or not demand)
            assert arrays.link[node[each, START] + number, PART] == (AMONG_WAKES if woken else AMONG_QUIET)

    def _links(self, each: int) -> list[list[int]]:
        """Return all that is linked to a node: positions, users, parents that it wakes, quiet ones, anchored nodes."""
        row, link = self.arrays.node[each], self.arrays.link
        parents = link[:, PARENT_NEXT]
        return [
            chain_of(row[ENDS], self.arrays.after),
            chain_of(row[USERS], link[:, USER_NEXT]),
            chain_of(row[WAKES], parents),
            chain_of(row[QUIET], parents),
            chain_of(row[ANCHORED], self.arrays.node[:, ANCHOR_NEXT]),
        ]


def chain_of(first: int, following: Ints) -> list[int]:
    """Return all members of a linked list."""
    found = []
    while first != NONE:
        found.append(int(first))
        first = following[first]
    return found


def _longer(array: npt.NDArray[Any], length: int, filler: int = 0) -> npt.NDArray[Any]:
    """Return an array with room for so many rows, and for an eighth more if it has to be made."""
    if length <= len(array):
        return array
    longer = np.zeros((length + length // 8, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    if filler:
        longer[len(array) :] = filler
    return longer


# --- the table of connectives --------------------------------------------------------------------


@kernel
def _home(op: int, operands: Ints, slots: int) -> int:
    mixed = np.int64(op)
    for each in operands:
        mixed = mixed * 668_265_263 + each
        mixed = (mixed ^ (mixed >> 31)) & 0x7FFF_FFFF
    return int(mixed & (slots - 1))


@kernel
def find_connective(op: int, operands: Ints, table: Ints, node: Matrix, operand: Ints) -> int:
    """Return the place in the table of a connective, or the empty place where it would go."""
    place = _home(op, operands, len(table))
    while table[place] != NONE:
        known = table[place]
        start, size = node[known, START], node[known, SIZE]
        if node[known, OP] == op and size == len(operands) and (operand[start : start + size] == operands).all():
            break
        place = (place + 1) & (len(table) - 1)
    return place


@kernel
def _home_of(known: int, slots: int, node: Matrix, operand: Ints) -> int:
    start = node[known, START]
    return _home(node[known, OP], operand[start : start + node[known, SIZE]], slots)


@kernel
def _erase(place: int, table: Ints, node: Matrix, operand: Ints) -> None:
    """Empty a place; entries behind it that would not be found any more move up."""
    last = len(table) - 1
    hole, at = place, place
    while True:
        at = (at + 1) & last
        if table[at] == NONE:
            break
        if (at - _home_of(table[at], len(table), node, operand)) & last >= (at - hole) & last:
            table[hole] = table[at]
            hole = at
    table[hole] = NONE


@kernel
def _enter_all(old: Ints, new: Ints, node: Matrix, operand: Ints) -> None:
    for known in old:
        if known != NONE:
            place = _home_of(known, len(new), node, operand)
            while new[place] != NONE:
                place = (place + 1) & (len(new) - 1)
            new[place] = known


# --- room ----------------------------------------------------------------------------------------


@kernel
def _new_node(op: int, node: Matrix, state: Longs) -> int:
    new = state[FREE_NODE]
    if new == NONE:
        new = state[NODES]
        state[NODES] += 1
    else:
        state[FREE_NODE] = node[new, START]
    state[LIVE] += 1
    node[new] = 0
    node[new, OP] = op
    for column in (WAKES, ENDS, QUIET, ANCHORED, ANCHOR_NEXT, ANCHOR_BEFORE, USERS):
        node[new, column] = NONE
    return int(new)


@kernel
def _drop_node(old: int, node: Matrix, state: Longs) -> None:
    node[old, OP] = FREE
    node[old, START] = state[FREE_NODE]
    state[FREE_NODE] = old
    state[LIVE] -= 1


@kernel
def _class_of(size: int) -> int:
    found = 1
    while 1 << found < size:
        found += 1
    return found


@kernel
def _new_slots(size: int, operand: Ints, state: Longs) -> int:
    kind = _class_of(size)
    start = state[FREE_SLOTS + kind]
    if start == NONE:
        start = state[SLOTS]
        state[SLOTS] += 1 << kind
    else:
        state[FREE_SLOTS + kind] = operand[start]
    return int(start)


@kernel
def _drop_slots(start: int, size: int, operand: Ints, state: Longs) -> None:
    kind = _class_of(size)
    operand[start] = state[FREE_SLOTS + kind]
    state[FREE_SLOTS + kind] = start


# --- who wakes whom ------------------------------------------------------------------------------


@kernel
def is_awake(each: int, node: Matrix) -> bool:
    """Return whether a node that turns true must make itself known."""
    return bool(node[each, WAKES] != NONE or node[each, ENDS] != NONE)


@kernel
def _push(each: int, nodes: Nodes) -> None:
    """Put a node on the stack of those to be looked after."""
    if not nodes.flags[each] & _WAITS:
        nodes.flags[each] |= _WAITS
        nodes.stack[nodes.state[WAITING]] = each
        nodes.state[WAITING] += 1


@kernel
def _pop(nodes: Nodes) -> int:
    nodes.state[WAITING] -= 1
    each = nodes.stack[nodes.state[WAITING]]
    nodes.flags[each] &= ~_WAITS
    return int(each)


@kernel
def _is_stale(each: int, nodes: Nodes) -> None:
    """Take notice that something changed that matching reads of a node."""
    if nodes.state[STALE] != ALL_STALE and not nodes.flags[each] & _IS_STALE:
        nodes.flags[each] |= _IS_STALE
        nodes.stale[nodes.state[STALE]] = each
        nodes.state[STALE] += 1


@kernel
def _changed(each: int, nodes: Nodes) -> None:
    """Take notice that a node has become awake, or is no longer."""
    if nodes.node[each, OP] != LEAF:
        _push(each, nodes)
    elif not nodes.flags[each] & _IS_NOTED:
        nodes.flags[each] |= _IS_NOTED
        nodes.noted[nodes.state[NOTED]] = each
        nodes.state[NOTED] += 1


@kernel
def _move(slot: int, part: int, nodes: Nodes) -> None:
    """Put a slot into a part of the list of its child, or into none."""
    node, link = nodes.node, nodes.link
    each = nodes.child[slot]
    was_awake = is_awake(each, node)
    if link[slot, PART] != APART:
        after, before = link[slot, PARENT_NEXT], link[slot, PARENT_BEFORE]
        if before != NONE:
            link[before, PARENT_NEXT] = after
        else:
            node[each, WAKES if link[slot, PART] == AMONG_WAKES else QUIET] = after
        if after != NONE:
            link[after, PARENT_BEFORE] = before
    link[slot, PART] = part
    if part != APART:
        column = WAKES if part == AMONG_WAKES else QUIET
        after = node[each, column]
        link[slot, PARENT_NEXT], link[slot, PARENT_BEFORE] = after, NONE
        if after != NONE:
            link[after, PARENT_BEFORE] = slot
        node[each, column] = slot
    _is_stale(each, nodes)
    if is_awake(each, node) != was_awake:
        _changed(each, nodes)


@kernel
def _settle(nodes: Nodes) -> None:
    """Let the children of all waiting nodes wake them, or not."""
    node, link, state = nodes.node, nodes.link, nodes.state
    while state[WAITING]:
        each = _pop(nodes)
        told = not state[DEMAND] or is_awake(each, node)
        for number in range(node[each, COUNT]):
            slot = node[each, START] + number
            by_this = told and (number == 0 or node[each, OP] != ALL or not state[DEMAND])
            part = AMONG_WAKES if by_this else AMONG_QUIET
            if link[slot, PART] != part:
                _move(slot, part, nodes)


@kernel
def _relevel(each: int, nodes: Nodes) -> None:
    """Give a node its level, and all nodes above it where that changes theirs. No node may be waiting."""
    node, link, state = nodes.node, nodes.link, nodes.state
    _push(each, nodes)
    while state[WAITING]:
        low = _pop(nodes)
        level = 1
        for slot in range(node[low, START], node[low, START] + node[low, COUNT]):
            level = max(level, node[nodes.child[slot], LEVEL] + 1)
        if node[low, LEVEL] != level:
            node[low, LEVEL] = level
            state[TOP_LEVEL] = max(state[TOP_LEVEL], level)
            for slot in range(node[low, START], node[low, START] + node[low, COUNT]):
                _is_stale(nodes.child[slot], nodes)
            for column in (WAKES, QUIET):
                slot = node[low, column]
                while slot != NONE:
                    _push(link[slot, OWNER], nodes)
                    slot = link[slot, PARENT_NEXT]


# --- children ------------------------------------------------------------------------------------


@kernel
def _marked(each: int, mark: int, nodes: Nodes) -> bool:
    """Return whether all operands of a node have a mark, be they covered or not."""
    start, size = nodes.node[each, START], nodes.node[each, SIZE]
    found = 0
    for slot in range(start, start + size):
        found += abs(nodes.mark[nodes.operand[slot]]) == mark
    return bool(found == size)


@kernel
def _gain(each: int, mark: int, nodes: Nodes) -> int:
    """Return how many operands of a node are not covered yet."""
    start, found = nodes.node[each, START], 0
    for slot in range(start, start + nodes.node[each, SIZE]):
        found += nodes.mark[nodes.operand[slot]] == mark
    return found


@kernel
def _new_mark(nodes: Nodes) -> int:
    """Return a mark that no node has."""
    if nodes.state[MARK] == _LAST_MARK:
        nodes.mark[:] = 0
        nodes.state[MARK] = 0
    nodes.state[MARK] += 1
    return int(nodes.state[MARK])


@kernel
def _mark_operands(each: int, nodes: Nodes) -> int:
    mark = _new_mark(nodes)
    start = nodes.node[each, START]
    for slot in range(start, start + nodes.node[each, SIZE]):
        nodes.mark[nodes.operand[slot]] = mark
    return mark


@kernel
def _cover(each: int, nodes: Nodes) -> None:
    """Choose the children of a connective by greedy set cover (Alg. 20). Its slots must be apart."""
    node, marks, operand, child = nodes.node, nodes.mark, nodes.operand, nodes.child
    op, start, size = node[each, OP], node[each, START], node[each, SIZE]
    count = 0
    hopeful = False
    if size > 2 and op in (ALL, ANY):
        for slot in range(start, start + size):
            hopeful = hopeful or node[operand[slot], ANCHORED] != NONE
    if not hopeful:
        child[start : start + size] = operand[start : start + size]
        count = size
    else:
        mark = _mark_operands(each, nodes)
        candidates = np.empty(MOST_CANDIDATES, np.int32)
        found = 0
        for slot in range(start, start + size):
            other, looked_at = node[operand[slot], ANCHORED], 0
            while other != NONE and looked_at < MOST_LOOKED_AT and found < MOST_CANDIDATES:
                if node[other, OP] == op and node[other, SIZE] < size and _marked(other, mark, nodes):
                    candidates[found] = other
                    found += 1
                other = node[other, ANCHOR_NEXT]
                looked_at += 1
        while found:
            best, best_gain = NONE, 1
            for number in range(found):
                other = candidates[number]
                gain = _gain(other, mark, nodes)
                if gain > best_gain or (
                    gain == best_gain and best != NONE and (node[other, SIZE], other) < (node[best, SIZE], best)
                ):
                    best, best_gain = other, gain
            if best == NONE:
                break
            child[start + count] = best
            count += 1
            for slot in range(node[best, START], node[best, START] + node[best, SIZE]):
                marks[operand[slot]] = -mark
        for slot in range(start, start + size):
            if marks[operand[slot]] == mark:
                child[start + count] = operand[slot]
                count += 1
    node[each, COUNT] = count
    _sort_children(each, nodes)


@kernel
def _sort_children(each: int, nodes: Nodes) -> None:
    """Put first what decides most often: the access child of a conjunction is the first one."""
    op, start, weight, child = nodes.node[each, OP], nodes.node[each, START], nodes.weight, nodes.child
    if op > ANY:
        return
    sign = 1 if op == ALL else -1
    for slot in range(start + 1, start + nodes.node[each, COUNT]):
        moved, at = child[slot], slot
        while at > start and sign * weight[child[at - 1]] > sign * weight[moved]:
            child[at] = child[at - 1]
            at -= 1
        child[at] = moved


@kernel
def _detach(each: int, nodes: Nodes) -> None:
    """Take a node away from its children."""
    start = nodes.node[each, START]
    for slot in range(start, start + nodes.node[each, COUNT]):
        _move(slot, APART, nodes)
    nodes.node[each, COUNT] = 0


@kernel
def _attach(each: int, nodes: Nodes) -> None:
    """Connect a node with the children that stand in its slots."""
    _is_stale(each, nodes)
    _push(each, nodes)
    _settle(nodes)
    _relevel(each, nodes)


@kernel
def _adjust(each: int, nodes: Nodes) -> None:
    """Let nodes that mean more than this one have it as a child, where it replaces two or more (Alg. 21)."""
    node, link, operand, child = nodes.node, nodes.link, nodes.operand, nodes.child
    op, start, size = node[each, OP], node[each, START], node[each, SIZE]
    if op > ANY:
        return
    rare = operand[start]
    for slot in range(start + 1, start + size):
        if node[operand[slot], USES] < node[rare, USES]:
            rare = operand[slot]
    use, looked_at = node[rare, USERS], 0
    if link[use, USER_NEXT] == NONE:
        return
    mark = _mark_operands(each, nodes)
    while use != NONE and looked_at < MOST_LOOKED_AT:
        larger = link[use, OWNER]
        use = link[use, USER_NEXT]
        looked_at += 1
        if node[larger, OP] != op or node[larger, SIZE] <= size or _gain(larger, mark, nodes) < size:
            continue
        first, count = node[larger, START], node[larger, COUNT]
        kept = np.empty(count, np.int32)
        keeps = 0
        for slot in range(first, first + count):
            other = child[slot]
            inside = nodes.mark[other] == mark or (node[other, OP] == op and _marked(other, mark, nodes))
            if not inside:
                kept[keeps] = other
                keeps += 1
        if count - keeps >= 2:
            _detach(larger, nodes)
            child[first : first + keeps] = kept[:keeps]
            child[first + keeps] = each
            node[larger, COUNT] = keeps + 1
            _sort_children(larger, nodes)
            _attach(larger, nodes)


# --- coming and going ----------------------------------------------------------------------------


@kernel
def _new_predicate(predicate: int, axis: int, weight: float, nodes: Nodes) -> int:
    node = nodes.node
    new = _new_node(LEAF, node, nodes.state)
    node[new, LEVEL] = 1
    node[new, PREDICATE] = predicate
    node[new, DIMENSION] = abs(axis) - 1
    if axis > 0:
        bit = (axis - 1) % (2 * WORD_BITS)
        node[new, NEEDS_LOW if bit < WORD_BITS else NEEDS_HIGH] = 1 << (bit % WORD_BITS)
    nodes.weight[new] = weight
    nodes.of_predicate[predicate] = new
    return new


@kernel
def _new_connective(op: int, operands: Ints, nodes: Nodes) -> int:
    node, link = nodes.node, nodes.link
    new = _new_node(op, node, nodes.state)
    size = len(operands)
    start = _new_slots(size, nodes.operand, nodes.state)
    node[new, START], node[new, SIZE] = start, size
    anchor = operands[0]
    needs_low, needs_high = node[anchor, NEEDS_LOW], node[anchor, NEEDS_HIGH]
    weight = nodes.weight[anchor]
    for number in range(size):
        each, slot = operands[number], start + number
        nodes.operand[slot] = each
        after = node[each, USERS]
        link[slot, OWNER], link[slot, PART] = new, APART
        link[slot, USER_NEXT], link[slot, USER_BEFORE] = after, NONE
        if after != NONE:
            link[after, USER_BEFORE] = slot
        node[each, USERS] = slot
        if number == 0:
            continue
        if op == ALL:
            needs_low, needs_high = needs_low | node[each, NEEDS_LOW], needs_high | node[each, NEEDS_HIGH]
            weight = min(weight, nodes.weight[each])
        else:
            needs_low, needs_high = needs_low & node[each, NEEDS_LOW], needs_high & node[each, NEEDS_HIGH]
            weight += nodes.weight[each]
        if node[each, USES] < node[anchor, USES]:
            anchor = each
    node[new, NEEDS_LOW], node[new, NEEDS_HIGH] = needs_low, needs_high
    nodes.weight[new] = weight
    _cover(new, nodes)
    after = node[anchor, ANCHORED]
    node[new, ANCHOR], node[new, ANCHOR_NEXT] = anchor, after
    if after != NONE:
        node[after, ANCHOR_BEFORE] = new
    node[anchor, ANCHORED] = new
    _attach(new, nodes)
    _adjust(new, nodes)
    return new


@kernel
def _connective(op: int, operands: Ints, nodes: Nodes) -> int:
    """Return the node of a connective, used once more. Each of the operands was counted as used once more before."""
    node = nodes.node
    distinct = len(operands)
    if op < SIGNED:
        operands.sort()
    if op <= ANY:
        distinct = 1
        for number in range(1, len(operands)):
            if operands[number] == operands[distinct - 1]:
                node[operands[number], USES] -= 1
            else:
                operands[distinct] = operands[number]
                distinct += 1
        if distinct == 1:
            return int(operands[0])
    operands = operands[:distinct]
    place = find_connective(op, operands, nodes.table, node, nodes.operand)
    known = nodes.table[place]
    if known == NONE:
        known = _new_connective(op, operands, nodes)
        nodes.table[place] = known
    else:
        for each in operands:
            node[each, USES] -= 1
    node[known, USES] += 1
    return int(known)


@kernel
def _end(position: int, each: int, nodes: Nodes) -> None:
    """Let a subscription end at a node."""
    following = nodes.node[each, ENDS]
    was_awake = is_awake(each, nodes.node)
    nodes.after[position], nodes.before[position] = following, NONE
    if following != NONE:
        nodes.before[following] = position
    nodes.node[each, ENDS] = position
    nodes.root[position] = each
    _is_stale(each, nodes)
    if not was_awake:
        _changed(each, nodes)
        _settle(nodes)


@kernel
def repeat(positions: Ints, originals: Ints, nodes: Nodes) -> None:
    """Let subscriptions end where others do, which are stored already."""
    for number in range(len(positions)):
        each = nodes.root[originals[number]]
        nodes.node[each, USES] += 1
        _end(positions[number], each, nodes)


@kernel
def insert(positions: Ints, offsets: Longs, codes: Longs, axis: Ints, weight: Floats, nodes: Nodes) -> None:
    """Store forms (Alg. 22).

    By predicate, `axis` is its dimension plus one, negative if absent values meet it, and `weight` the share of events
    that is expected to meet it.
    """
    node = nodes.node
    longest = 0
    for number in range(len(positions)):
        longest = max(longest, offsets[number + 1] - offsets[number])
    stack, ended = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for number in range(len(positions)):
        depth = 0
        for at in range(offsets[number], offsets[number + 1]):
            tag, value = codes[at] & 3, codes[at] >> 2
            if codes[at] < 0:
                tag = -codes[at]
                value = 1 if tag in _ONE_OPERAND else 2
            if tag in (LEAF, SAME):
                each = nodes.of_predicate[value] if tag == LEAF else ended[value]
                if each == NONE:
                    each = _new_predicate(value, axis[value], weight[value], nodes)
                node[each, USES] += 1
            else:
                depth -= value
                each = _connective(tag, stack[depth : depth + value], nodes)
            ended[at - offsets[number]] = stack[depth] = each
            depth += 1
        _end(positions[number], stack[0], nodes)


@kernel
def delete(position: int, nodes: Nodes) -> Ints:
    """Forget a form and return the predicates that nothing needs any more (Alg. 23)."""
    node, after, before = nodes.node, nodes.after, nodes.before
    root = nodes.root[position]
    following, preceding = after[position], before[position]
    if preceding != NONE:
        after[preceding] = following
    else:
        node[root, ENDS] = following
    if following != NONE:
        before[following] = preceding
    nodes.root[position] = NONE
    _is_stale(root, nodes)
    if not is_awake(root, node):
        _changed(root, nodes)
        _settle(nodes)
    going, freed = np.empty(16, np.int32), np.empty(16, np.int32)
    going[0], waiting, gone = root, 1, 0
    while waiting:
        waiting -= 1
        each = going[waiting]
        node[each, USES] -= 1
        if node[each, USES]:
            continue
        if node[each, OP] == LEAF:
            if gone == len(freed):
                freed = np.concatenate((freed, np.empty(gone, np.int32)))
            freed[gone] = node[each, PREDICATE]
            gone += 1
            nodes.of_predicate[node[each, PREDICATE]] = NONE
        else:
            start, size = node[each, START], node[each, SIZE]
            while waiting + size > len(going):
                going = np.concatenate((going, np.empty(len(going), np.int32)))
            going[waiting : waiting + size] = nodes.operand[start : start + size]
            waiting += size
            _drop_connective(each, nodes)
        _drop_node(each, node, nodes.state)
    return freed[:gone]


@kernel
def _drop_connective(each: int, nodes: Nodes) -> None:
    """Take a connective that nobody means any more out of everything it is in."""
    node, link = nodes.node, nodes.link
    start, size = node[each, START], node[each, SIZE]
    operands = nodes.operand[start : start + size]
    _erase(
        find_connective(node[each, OP], operands, nodes.table, node, nodes.operand), nodes.table, node, nodes.operand
    )
    following, preceding = node[each, ANCHOR_NEXT], node[each, ANCHOR_BEFORE]
    if preceding != NONE:
        node[preceding, ANCHOR_NEXT] = following
    else:
        node[node[each, ANCHOR], ANCHORED] = following
    if following != NONE:
        node[following, ANCHOR_BEFORE] = preceding
    while node[each, WAKES] != NONE or node[each, QUIET] != NONE:
        slot = node[each, WAKES] if node[each, WAKES] != NONE else node[each, QUIET]
        parent = link[slot, OWNER]
        _detach(parent, nodes)
        _cover(parent, nodes)
        _attach(parent, nodes)
    _detach(each, nodes)
    _settle(nodes)
    for slot in range(start, start + size):
        after, before = link[slot, USER_NEXT], link[slot, USER_BEFORE]
        if before != NONE:
            link[before, USER_NEXT] = after
        else:
            node[nodes.operand[slot], USERS] = after
        if after != NONE:
            link[after, USER_BEFORE] = before
    _drop_slots(start, size, nodes.operand, nodes.state)


@kernel
def find_form(codes: Longs, nodes: Nodes) -> int:
    """Return the node of a form, or `NONE` if there is none."""
    stack, ended = np.empty(len(codes), np.int32), np.empty(len(codes), np.int32)
    depth = 0
    for at in range(len(codes)):
        tag, value = codes[at] & 3, codes[at] >> 2
        if tag in (LEAF, SAME):
            each = nodes.of_predicate[value] if tag == LEAF else ended[value]
        else:
            depth -= value
            operands = np.unique(stack[depth : depth + value])
            each = operands[0]
            if len(operands) > 1:
                each = nodes.table[find_connective(tag, operands, nodes.table, nodes.node, nodes.operand)]
        if each == NONE:
            return NONE
        ended[at] = stack[depth] = each
        depth += 1
    return int(stack[0])


@kernel
def subscriptions_above(each: int, nodes: Nodes) -> int:
    """Return how many subscriptions contain a node."""
    node, link, mark = nodes.node, nodes.link, _new_mark(nodes)
    waiting = np.empty(nodes.state[NODES], np.int32)
    waiting[0], count, found = each, 1, 0
    nodes.mark[each] = mark
    while count:
        count -= 1
        each = waiting[count]
        position = node[each, ENDS]
        while position != NONE:
            found += 1
            position = nodes.after[position]
        slot = node[each, USERS]
        while slot != NONE:
            owner = link[slot, OWNER]
            if nodes.mark[owner] != mark:
                nodes.mark[owner] = mark
                waiting[count] = owner
                count += 1
            slot = link[slot, USER_NEXT]
    return found
