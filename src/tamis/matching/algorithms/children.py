"""What the nodes of an A-Tree read and who wakes whom (specs/002 §7, Alg. 20 and 21): see `nodes`.

Corrections and additions, beside those of the specification:

* [ours] Nodes that might cover a part of a new node are not found by climbing from all its operands, which takes
  quadratic time where operands are popular. Every node is *anchored* at its least used operand, and only the nodes
  anchored at the new node's operands are looked at. Nodes that might have the new one as a child are among the
  users of its least used operand. At most `MOST_LOOKED_AT` are looked at in one list.
* [ours] Propagation on demand goes further. In the thesis, only the access child wakes an `and`. Here, besides, a node
  that would wake nobody and ends no subscription is not woken either, predicates included: it is asked.
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.nodes import (
    ALL_STALE,
    AMONG_QUIET,
    AMONG_WAKES,
    ANCHOR,
    ANCHOR_BEFORE,
    ANCHOR_NEXT,
    ANCHORED,
    APART,
    COUNT,
    DEMAND,
    IS_NOTED,
    IS_STALE,
    LEVEL,
    MARK,
    NONE,
    NOTED,
    OP,
    OWNER,
    PARENT_BEFORE,
    PARENT_NEXT,
    PART,
    QUIET,
    SIZE,
    STALE,
    START,
    TOP_LEVEL,
    USER_NEXT,
    USERS,
    USES,
    WAITING,
    WAITS,
    WAKES,
    Matrix,
    Nodes,
    is_awake,
)
from tamis.matching.ranks.forms import ALL, ANY, LEAF
from tamis.matching.ranks.lists import Ints
from tamis.matching.ranks.selectivity import Floats

#: How many nodes are looked at in one list, and how many of those found one is covered by.
MOST_LOOKED_AT: Final = 128
MOST_CANDIDATES: Final = 64
#: Marks begin anew after this one.
_LAST_MARK: Final = 2**31 - 1


# --- who wakes whom ------------------------------------------------------------------------------


@kernel
def push(each: int, nodes: Nodes) -> None:
    """Put a node on the stack of those to be looked after."""
    if not nodes.flags[each] & WAITS:
        nodes.flags[each] |= WAITS
        nodes.stack[nodes.state[WAITING]] = each
        nodes.state[WAITING] += 1


@kernel
def _pop(nodes: Nodes) -> int:
    nodes.state[WAITING] -= 1
    each = nodes.stack[nodes.state[WAITING]]
    nodes.flags[each] &= ~WAITS
    return int(each)


@kernel
def take_notice(each: int, nodes: Nodes) -> None:
    """Take notice that something changed that matching reads of a node."""
    if nodes.state[STALE] != ALL_STALE and not nodes.flags[each] & IS_STALE:
        nodes.flags[each] |= IS_STALE
        nodes.stale[nodes.state[STALE]] = each
        nodes.state[STALE] += 1


@kernel
def changed(each: int, nodes: Nodes) -> None:
    """Take notice that a node has become awake, or is no longer."""
    if nodes.node[each, OP] != LEAF:
        push(each, nodes)
    elif not nodes.flags[each] & IS_NOTED:
        nodes.flags[each] |= IS_NOTED
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
    take_notice(each, nodes)
    if is_awake(each, node) != was_awake:
        changed(each, nodes)


@kernel
def settle(nodes: Nodes) -> None:
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
def relevel(each: int, nodes: Nodes) -> None:
    """Give a node its level, and all nodes above it where that changes theirs. No node may be waiting."""
    node, link, state = nodes.node, nodes.link, nodes.state
    push(each, nodes)
    while state[WAITING]:
        low = _pop(nodes)
        level = 1
        for slot in range(node[low, START], node[low, START] + node[low, COUNT]):
            level = max(level, node[nodes.child[slot], LEVEL] + 1)
        if node[low, LEVEL] != level:
            node[low, LEVEL] = level
            state[TOP_LEVEL] = max(state[TOP_LEVEL], level)
            for slot in range(node[low, START], node[low, START] + node[low, COUNT]):
                take_notice(nodes.child[slot], nodes)
            for column in (WAKES, QUIET):
                slot = node[low, column]
                while slot != NONE:
                    push(link[slot, OWNER], nodes)
                    slot = link[slot, PARENT_NEXT]


@kernel
def detach(each: int, nodes: Nodes) -> None:
    """Take a node away from its children."""
    start = nodes.node[each, START]
    for slot in range(start, start + nodes.node[each, COUNT]):
        _move(slot, APART, nodes)
    nodes.node[each, COUNT] = 0


@kernel
def attach(each: int, nodes: Nodes) -> None:
    """Connect a node with the children that stand in its slots."""
    take_notice(each, nodes)
    push(each, nodes)
    settle(nodes)
    relevel(each, nodes)


# --- covers --------------------------------------------------------------------------------------


@kernel
def _is_inside(each: int, mark: int, node: Matrix, operand: Ints, marks: Ints) -> bool:
    """Return whether all operands of a node have a mark, be they covered or not."""
    start, size = node[each, START], node[each, SIZE]
    found = 0
    for slot in range(start, start + size):
        found += abs(marks[operand[slot]]) == mark
    return bool(found == size)


@kernel
def _gain(each: int, mark: int, node: Matrix, operand: Ints, marks: Ints) -> int:
    """Return how many operands of a node are not covered yet."""
    start, found = node[each, START], 0
    for slot in range(start, start + node[each, SIZE]):
        found += marks[operand[slot]] == mark
    return found


@kernel
def new_mark(nodes: Nodes) -> int:
    """Return a mark that no node has."""
    if nodes.state[MARK] == _LAST_MARK:
        nodes.mark[:] = 0
        nodes.state[MARK] = 0
    nodes.state[MARK] += 1
    return int(nodes.state[MARK])


@kernel
def _mark_operands(each: int, nodes: Nodes) -> int:
    mark = new_mark(nodes)
    start = nodes.node[each, START]
    for slot in range(start, start + nodes.node[each, SIZE]):
        nodes.mark[nodes.operand[slot]] = mark
    return mark


@kernel
def cover(each: int, nodes: Nodes) -> None:
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
                if node[other, OP] == op and node[other, SIZE] < size and _is_inside(other, mark, node, operand, marks):
                    candidates[found] = other
                    found += 1
                other = node[other, ANCHOR_NEXT]
                looked_at += 1
        while found:
            best, best_gain = NONE, 1
            for number in range(found):
                other = candidates[number]
                gain = _gain(other, mark, node, operand, marks)
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
            # It may be an operand itself, where a constant fell away between two connectives of one kind.
            if marks[best] == mark:
                marks[best] = -mark
        for slot in range(start, start + size):
            if marks[operand[slot]] == mark:
                child[start + count] = operand[slot]
                count += 1
    node[each, COUNT] = count
    sort_children(each, node, child, nodes.weight)


@kernel
def anchor(each: int, node: Matrix, operand: Ints) -> None:
    """Let a connective be found at its least used operand."""
    start = node[each, START]
    rare = operand[start]
    for slot in range(start + 1, start + node[each, SIZE]):
        if node[operand[slot], USES] < node[rare, USES]:
            rare = operand[slot]
    after = node[rare, ANCHORED]
    node[each, ANCHOR], node[each, ANCHOR_NEXT] = rare, after
    if after != NONE:
        node[after, ANCHOR_BEFORE] = each
    node[rare, ANCHORED] = each


@kernel
def sort_children(each: int, node: Matrix, child: Ints, weight: Floats) -> None:
    """Put first what decides most often: the access child of a conjunction is the first one."""
    op, start = node[each, OP], node[each, START]
    sign = 1 if op == ALL else -1
    for slot in range(start + 1, start + node[each, COUNT] if op <= ANY else start):
        moved, at = child[slot], slot
        while at > start and sign * weight[child[at - 1]] > sign * weight[moved]:
            child[at] = child[at - 1]
            at -= 1
        child[at] = moved


@kernel
def adjust(each: int, nodes: Nodes) -> None:
    """Let nodes that mean more than this one have it as a child, where it replaces two or more (Alg. 21)."""
    node, link, operand, child, marks = nodes.node, nodes.link, nodes.operand, nodes.child, nodes.mark
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
        if node[larger, OP] != op or node[larger, SIZE] <= size or _gain(larger, mark, node, operand, marks) < size:
            continue
        first, count = node[larger, START], node[larger, COUNT]
        kept = np.empty(count, np.int32)
        keeps = 0
        for slot in range(first, first + count):
            other = child[slot]
            inside = marks[other] == mark or (node[other, OP] == op and _is_inside(other, mark, node, operand, marks))
            if not inside:
                kept[keeps] = other
                keeps += 1
        if count - keeps >= 2:
            detach(larger, nodes)
            child[first : first + keeps] = kept[:keeps]
            child[first + keeps] = each
            node[larger, COUNT] = keeps + 1
            sort_children(larger, node, child, nodes.weight)
            attach(larger, nodes)
