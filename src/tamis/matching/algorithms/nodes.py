"""The nodes of an A-Tree (specs/002 §7; thesis ch. 9): what a node is, and how it is found.

A node is a predicate or a connective over other nodes, its *operands*; equal ones are one node. What a node reads when
it is evaluated are its *children*: its operands, or instead of some of them other nodes of the same connective whose
operands are among them (`a or b or c or d` may read `a or b or c` and `d`). So operands say what a node means and never
change; children say how it finds out, and change as other nodes come and go.

Everything stands in flat arrays. A node is a row of `node`; its operands and children stand in its *slots*:
`operand[start : start + size]`, sorted, and `child[start : start + count]`, never more of them. A slot is also a link
in two lists: of all slots with the same operand (the *users* of that operand) and of all slots with the same child. The
second list is in two parts. A child that turns true *wakes* the owners of the slots in one part; the owners of the
others ask when they need to know (*quiet*).

`nodestore` keeps the arrays, `children` says what nodes read and who wakes whom, `insertion` lets nodes come and go one
by one, and `bulk` lets many come at once.
"""

from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.forms import ALL, LEAF, SAME
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
# rules; then by class the first free block of slots.
NODES, SLOTS, FREE_NODE, MARK, WAITING, NOTED, STALE, LIVE, TOP_LEVEL, DEMAND, FREE_SLOTS = range(11)
#: Blocks of slots have every size up to this one, and above it only some: twice as many, four times as many, …
SMALL: Final = 16
CLASSES: Final = 48
#: What stands for the number of stale nodes when so much is new that all are taken to be.
ALL_STALE: Final = -1
# Flags of a node: it waits in `stack`, it stands in `noted`, it stands in `stale`.
WAITS, IS_NOTED, IS_STALE = 1, 2, 4

#: So many operands are sorted by insertion.
_SHORT: Final = 32
#: The bits in each of the two words of needed attributes.
WORD_BITS: Final = 31

Matrix: TypeAlias = npt.NDArray[np.int32]
Flags: TypeAlias = npt.NDArray[np.bool_]


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


@kernel
def is_awake(each: int, node: Matrix) -> bool:
    """Return whether a node that turns true must make itself known."""
    return bool(node[each, WAKES] != NONE or node[each, ENDS] != NONE)


@kernel
def read_code(code: int) -> tuple[int, int]:
    """Return what a code of a form says: a tag or three-valued connective, and its value or number of operands."""
    if code >= 0:
        return code & 3, code >> 2
    return -code, 1 if -code in _ONE_OPERAND else 2


# --- the table of connectives --------------------------------------------------------------------


@kernel
def arrange(op: int, stack: Ints, first: int, size: int) -> int:
    """Bring the operands on top of a stack into the order in which they are kept; return how many different ones stay.

    Here and below, operands are so many numbers from a place on: a slice for each would cost more than all the rest.
    """
    if op >= SIGNED:
        return size
    if size > _SHORT:
        _sort(stack[first : first + size])
    for number in range(first + 1, first + size):
        moved, at = stack[number], number
        while at > first and stack[at - 1] > moved:
            stack[at] = stack[at - 1]
            at -= 1
        stack[at] = moved
    if op >= NOT:
        return size
    last = first
    for number in range(first + 1, first + size):
        if stack[number] != stack[last]:
            last += 1
            stack[last] = stack[number]
    return last + 1 - first


@kernel
def _sort(operands: Ints) -> None:
    operands.sort()


@kernel
def _home(op: int, operands: Ints, first: int, size: int, places: int) -> int:
    mixed = np.int64(op)
    for number in range(first, first + size):
        mixed = mixed * 668_265_263 + operands[number]
        mixed = (mixed ^ (mixed >> 31)) & 0x7FFF_FFFF
    return int(mixed & (places - 1))


@kernel
def find_connective(op: int, operands: Ints, first: int, size: int, table: Ints, node: Matrix, operand: Ints) -> int:
    """Return the place in the table of a connective, or the empty place where it would go."""
    place = _home(op, operands, first, size, len(table))
    differ = size
    while differ and table[place] != NONE:
        known = table[place]
        if node[known, OP] == op and node[known, SIZE] == size:
            start, differ = node[known, START], 0
            for number in range(size):
                differ += operand[start + number] != operands[first + number]
        if differ:
            place = (place + 1) & (len(table) - 1)
    return place


@kernel
def _home_of(known: int, places: int, node: Matrix, operand: Ints) -> int:
    return _home(node[known, OP], operand, node[known, START], node[known, SIZE], places)


@kernel
def erase(place: int, table: Ints, node: Matrix, operand: Ints) -> None:
    """Empty a place of the table; entries behind it that would not be found any more move up."""
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
def enter_all(old: Ints, new: Ints, node: Matrix, operand: Ints) -> None:
    """Enter all connectives of one table into another one."""
    for known in old:
        if known != NONE:
            place = _home_of(known, len(new), node, operand)
            while new[place] != NONE:
                place = (place + 1) & (len(new) - 1)
            new[place] = known


# --- room ----------------------------------------------------------------------------------------


@kernel
def new_node(op: int, node: Matrix, state: Longs) -> int:
    """Return a node that is linked with nothing, for which there must be room."""
    new = state[FREE_NODE]
    if new == NONE:
        new = state[NODES]
        state[NODES] += 1
    else:
        state[FREE_NODE] = node[new, START]
    state[LIVE] += 1
    node[new, OP] = op
    for column in (LEVEL, NEEDS_LOW, NEEDS_HIGH, START, COUNT, SIZE, USES, ANCHOR):
        node[new, column] = 0
    for column in (WAKES, ENDS, QUIET, ANCHORED, ANCHOR_NEXT, ANCHOR_BEFORE, USERS):
        node[new, column] = NONE
    return int(new)


@kernel
def drop_node(old: int, node: Matrix, state: Longs) -> None:
    """Give a node back."""
    node[old, OP] = FREE
    node[old, START] = state[FREE_NODE]
    state[FREE_NODE] = old
    state[LIVE] -= 1


@kernel
def _class_of(size: int) -> int:
    """Return the class of the blocks that have room for so many slots."""
    found = min(size, SMALL)
    while _room_of(found) < size:
        found += 1
    return found


@kernel
def _room_of(kind: int) -> int:
    """Return how many slots a block of a class has."""
    return kind if kind <= SMALL else SMALL << (kind - SMALL)


@kernel
def survey(codes: Longs, occurs: Flags) -> tuple[int, int]:
    """Mark the predicates that occur in forms; return how many connectives do, and how many slots these would need."""
    connectives, slots = 0, 0
    for code in codes:
        tag, value = read_code(code)
        if tag == LEAF:
            occurs[value] = True
        elif tag != SAME:
            connectives += 1
            slots += _room_of(_class_of(value))
    return connectives, slots


@kernel
def new_slots(size: int, operand: Ints, state: Longs) -> int:
    """Return where a block of slots begins, for which there must be room."""
    kind = _class_of(size)
    start = state[FREE_SLOTS + kind]
    if start == NONE:
        start = state[SLOTS]
        state[SLOTS] += _room_of(kind)
    else:
        state[FREE_SLOTS + kind] = operand[start]
    return int(start)


@kernel
def drop_slots(start: int, size: int, operand: Ints, state: Longs) -> None:
    """Give a block of slots back."""
    kind = _class_of(size)
    operand[start] = state[FREE_SLOTS + kind]
    state[FREE_SLOTS + kind] = start


@kernel
def new_predicate(predicate: int, axis: int, node: Matrix, of_predicate: Ints, state: Longs) -> int:
    """Return the node of a predicate that has none yet; `axis` as in `insertion.insert`."""
    new = new_node(LEAF, node, state)
    node[new, LEVEL] = 1
    node[new, PREDICATE] = predicate
    node[new, DIMENSION] = abs(axis) - 1
    bit = (abs(axis) - 1) % (2 * WORD_BITS)
    word = (axis > 0) << (bit % WORD_BITS)
    node[new, NEEDS_LOW], node[new, NEEDS_HIGH] = (word, 0) if bit < WORD_BITS else (0, word)
    of_predicate[predicate] = new
    return new


@kernel
def new_connective(
    op: int,
    operands: Ints,
    first: int,
    size: int,
    node: Matrix,
    weights: Floats,
    operand: Ints,
    link: Matrix,
    state: Longs,
) -> int:
    """Return a new user of some operands, which has no children and no anchor yet."""
    new, start = new_node(op, node, state), new_slots(size, operand, state)
    node[new, START], node[new, SIZE] = start, size
    each, level = operands[first], 0
    low, high, weight = node[each, NEEDS_LOW], node[each, NEEDS_HIGH], weights[each]
    for number in range(size):
        each, slot = operands[first + number], start + number
        operand[slot] = each
        after = node[each, USERS]
        link[slot, OWNER], link[slot, PART] = new, APART
        link[slot, USER_NEXT], link[slot, USER_BEFORE] = after, NONE
        if after != NONE:
            link[after, USER_BEFORE] = slot
        node[each, USERS] = slot
        node[each, USES] += 1
        level = max(level, node[each, LEVEL])
        if number == 0:
            continue
        if op == ALL:
            low, high = low | node[each, NEEDS_LOW], high | node[each, NEEDS_HIGH]
            weight = min(weight, weights[each])
        else:
            low, high = low & node[each, NEEDS_LOW], high & node[each, NEEDS_HIGH]
            weight += weights[each]
    node[new, NEEDS_LOW], node[new, NEEDS_HIGH], node[new, LEVEL] = low, high, level + 1
    state[TOP_LEVEL] = max(state[TOP_LEVEL], level + 1)
    weights[new] = weight
    return new


@kernel
def end(position: int, each: int, node: Matrix, root: Ints, after: Ints, before: Ints) -> None:
    """Put a position among those that end at a node."""
    following = node[each, ENDS]
    after[position], before[position] = following, NONE
    if following != NONE:
        before[following] = position
    node[each, ENDS] = position
    node[each, USES] += 1
    root[position] = each
