"""How the nodes of an A-Tree come and go, one by one (specs/002 §7, Alg. 22 and 23): see `nodes`.

[ours] When a node goes that others have as a child, they cover their operands anew instead of taking over its children,
so that nobody ever has more children than operands.
"""

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.children import (
    adjust,
    anchor,
    attach,
    changed,
    cover,
    detach,
    new_mark,
    settle,
    take_notice,
)
from tamis.matching.algorithms.nodes import (
    ANCHOR,
    ANCHOR_BEFORE,
    ANCHOR_NEXT,
    ANCHORED,
    ENDS,
    NODES,
    NONE,
    OP,
    OWNER,
    PREDICATE,
    QUIET,
    SIZE,
    START,
    USER_BEFORE,
    USER_NEXT,
    USERS,
    USES,
    WAKES,
    Nodes,
    arrange,
    drop_node,
    drop_slots,
    end,
    erase,
    find_connective,
    is_awake,
    new_connective,
    new_predicate,
    read_code,
)
from tamis.matching.ranks.forms import ANY, LEAF, SAME
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.selectivity import Floats


@kernel
def insert(positions: Ints, offsets: Longs, codes: Longs, axis: Ints, weight: Floats, nodes: Nodes) -> None:
    """Store forms (Alg. 22).

    By predicate, `axis` is its dimension plus one, negative if absent values meet it, and `weight` the share of events
    that is expected to meet it.
    """
    longest = 0
    for number in range(len(positions)):
        longest = max(longest, offsets[number + 1] - offsets[number])
    stack, ended = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for number in range(len(positions)):
        depth = 0
        for at in range(offsets[number], offsets[number + 1]):
            tag, value = read_code(codes[at])
            if tag == LEAF:
                each = nodes.of_predicate[value]
                if each == NONE:
                    each = new_predicate(value, axis[value], nodes.node, nodes.of_predicate, nodes.state)
                    nodes.weight[each] = weight[value]
            elif tag == SAME:
                each = ended[value]
            else:
                depth -= value
                each = _connective(tag, stack, depth, value, nodes)
            ended[at - offsets[number]] = stack[depth] = each
            depth += 1
        _end(positions[number], stack[0], nodes)


@kernel
def _connective(op: int, stack: Ints, first: int, size: int, nodes: Nodes) -> int:
    """Return the node of a connective whose operands are on top of a stack."""
    node, table, operand = nodes.node, nodes.table, nodes.operand
    size = arrange(op, stack, first, size)
    if size == 1 and op <= ANY:
        return int(stack[first])
    place = find_connective(op, stack, first, size, table, node, operand)
    known = table[place]
    if known == NONE:
        known = new_connective(op, stack, first, size, node, nodes.weight, operand, nodes.link, nodes.state)
        table[place] = known
        # It may not be found as a part of itself, so it gets its anchor last.
        cover(known, nodes)
        anchor(known, node, operand)
        attach(known, nodes)
        adjust(known, nodes)
    return int(known)


@kernel
def _end(position: int, each: int, nodes: Nodes) -> None:
    """Let a subscription end at a node."""
    was_awake = is_awake(each, nodes.node)
    end(position, each, nodes.node, nodes.root, nodes.after, nodes.before)
    take_notice(each, nodes)
    if not was_awake:
        changed(each, nodes)
        settle(nodes)


@kernel
def repeat(positions: Ints, originals: Ints, nodes: Nodes) -> None:
    """Let subscriptions end where others do, which are stored already."""
    for number in range(len(positions)):
        _end(positions[number], nodes.root[originals[number]], nodes)


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
    take_notice(root, nodes)
    if not is_awake(root, node):
        changed(root, nodes)
        settle(nodes)
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
        drop_node(each, node, nodes.state)
    return freed[:gone]


@kernel
def _drop_connective(each: int, nodes: Nodes) -> None:
    """Take a connective that nobody means any more out of everything it is in."""
    node, link = nodes.node, nodes.link
    start, size = node[each, START], node[each, SIZE]
    place = find_connective(node[each, OP], nodes.operand, start, size, nodes.table, node, nodes.operand)
    erase(place, nodes.table, node, nodes.operand)
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
        detach(parent, nodes)
        cover(parent, nodes)
        attach(parent, nodes)
    detach(each, nodes)
    settle(nodes)
    for slot in range(start, start + size):
        after, before = link[slot, USER_NEXT], link[slot, USER_BEFORE]
        if before != NONE:
            link[before, USER_NEXT] = after
        else:
            node[nodes.operand[slot], USERS] = after
        if after != NONE:
            link[after, USER_BEFORE] = before
    drop_slots(start, size, nodes.operand, nodes.state)


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
            value = arrange(tag, stack, depth, value)
            each = stack[depth]
            if value > 1:
                place = find_connective(tag, stack, depth, value, nodes.table, nodes.node, nodes.operand)
                each = nodes.table[place]
        if each == NONE:
            return NONE
        ended[at] = stack[depth] = each
        depth += 1
    return int(stack[0])


@kernel
def subscriptions_above(each: int, nodes: Nodes) -> int:
    """Return how many subscriptions contain a node."""
    node, link, mark = nodes.node, nodes.link, new_mark(nodes)
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
