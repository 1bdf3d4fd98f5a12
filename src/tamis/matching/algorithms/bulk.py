"""How many nodes come to an A-Tree at once [ours]: each step for all of them, before the next one.

One by one, every new node makes larger ones that are there already change their children, and every subscription that
ends makes nodes below it change who wakes them. Here all nodes are there before the first one chooses its children, and
all subscriptions end before the first one is woken: hardly anything changes twice. Covers are sought among all nodes,
so they are at least as good. What the algorithms 20 to 22 promise holds as it does in `insertion`.
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.children import (
    adjust,
    anchor,
    changed,
    cover,
    push,
    relevel,
    settle,
    sort_children,
)
from tamis.matching.algorithms.nodes import (
    ALL_STALE,
    AMONG_QUIET,
    AMONG_WAKES,
    ANCHOR,
    APART,
    COUNT,
    DEMAND,
    LIVE,
    NODES,
    NONE,
    OP,
    PARENT_BEFORE,
    PARENT_NEXT,
    PART,
    QUIET,
    SIZE,
    STALE,
    START,
    USES,
    WAKES,
    Flags,
    Matrix,
    Nodes,
    arrange,
    end,
    find_connective,
    is_awake,
    new_connective,
    new_predicate,
    read_code,
)
from tamis.matching.ranks.forms import ALL, ANY, LEAF, SAME
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.selectivity import Floats

#: Places of the filter for each pair in it, at least.
_PLACES_PER_PAIR: Final = 32
#: Of more shared operands than this, not all pairs are looked for in the filter.
_MOST_PAIRED: Final = 64


def insert_many(positions: Ints, offsets: Longs, codes: Longs, axis: Ints, weight: Floats, nodes: Nodes) -> None:
    """Store many forms, as `insert` does."""
    older = nodes.state[LIVE] > 0
    nodes.state[STALE] = ALL_STALE
    made = _make(positions, offsets, codes, axis, weight, nodes)
    _anchor_all(made, nodes.node, nodes.operand, nodes.child)
    parts = np.flatnonzero(nodes.node[: nodes.state[NODES], OP] > LEAF).astype(np.int32) if older else made
    held = _filter_of(_rare_pairs(parts, nodes.node, nodes.operand))
    _cover_all(_take_operands(made, held, nodes.node, nodes.operand, nodes.child, nodes.weight), nodes)
    _wake_all(made, nodes)
    _finish(made, older, nodes)


@kernel
def _make(positions: Ints, offsets: Longs, codes: Longs, axis: Ints, weight: Floats, nodes: Nodes) -> Ints:
    """Make all nodes, let all subscriptions end, and return the new connectives: operands before their users."""
    node, weights, operand, link, table = nodes.node, nodes.weight, nodes.operand, nodes.link, nodes.table
    of_predicate, root, after, before, state = nodes.of_predicate, nodes.root, nodes.after, nodes.before, nodes.state
    longest = 0
    for number in range(len(positions)):
        longest = max(longest, offsets[number + 1] - offsets[number])
    stack, ended = np.empty(longest, np.int32), np.empty(longest, np.int32)
    made = np.empty(len(codes), np.int32)
    count = 0
    for number in range(len(positions)):
        depth = 0
        for at in range(offsets[number], offsets[number + 1]):
            tag, value = read_code(codes[at])
            if tag == LEAF:
                each = of_predicate[value]
                if each == NONE:
                    each = new_predicate(value, axis[value], node, of_predicate, state)
                    weights[each] = weight[value]
            elif tag == SAME:
                each = ended[value]
            else:
                depth -= value
                value = arrange(tag, stack, depth, value)
                each = stack[depth]
                if value > 1 or tag > ANY:
                    place = find_connective(tag, stack, depth, value, table, node, operand)
                    each = table[place]
                    if each == NONE:
                        each = new_connective(tag, stack, depth, value, node, weights, operand, link, state)
                        table[place] = made[count] = each
                        count += 1
            ended[at - offsets[number]] = stack[depth] = each
            depth += 1
        each = stack[0]
        if node[each, OP] != LEAF and not is_awake(each, node) and link[node[each, START], PART] != APART:
            push(each, nodes)
        end(positions[number], each, node, root, after, before)
    return made[:count]


@kernel
def _anchor_all(made: Ints, node: Matrix, operand: Ints, child: Ints) -> None:
    """Anchor new connectives. The operands that others use as well stand in the slots for children meanwhile."""
    for each in made:
        anchor(each, node, operand)
        start, shared = node[each, START], 0
        for slot in range(start, start + node[each, SIZE]):
            child[start + shared] = operand[slot]
            shared += node[operand[slot], USES] > 1
        node[each, COUNT] = shared


@kernel
def _rare_pairs(connectives: Ints, node: Matrix, operand: Ints) -> Longs:
    """Return the two least used operands of each connective that others might contain, as one number (see `_pair`).

    Whatever contains a connective has its operands in common with it, so it finds this pair among its own.
    """
    pairs = np.empty(len(connectives), np.int64)
    found = 0
    for each in connectives:
        start, op = node[each, START], node[each, OP]
        if op > ANY or node[node[each, ANCHOR], USES] == 1:
            continue
        rare, second = operand[start], operand[start + 1]
        if node[rare, USES] > node[second, USES]:
            rare, second = second, rare
        for slot in range(start + 2, start + node[each, SIZE]):
            other = operand[slot]
            if node[other, USES] < node[rare, USES]:
                rare, second = other, rare
            elif node[other, USES] < node[second, USES]:
                second = other
        pairs[found] = _pair(op, min(rare, second), max(rare, second))
        found += 1
    return pairs[:found]


@kernel
def _pair(op: int, one: int, other: int) -> int:
    """Return a number for two operands of a connective, which others hardly have."""
    mixed = (np.int64(one) * 668_265_263 + other) & 0x7FFF_FFFF
    mixed = (mixed ^ (mixed >> 15)) * 374_761_393 + op
    return int((mixed ^ (mixed >> 31)) & 0x7FFF_FFFF)


def _filter_of(pairs: Longs) -> Flags:
    """Return by the last bits of a pair whether it may be one of these."""
    held = np.zeros(1 << (_PLACES_PER_PAIR * len(pairs)).bit_length(), np.bool_)
    held[pairs & (len(held) - 1)] = True
    return held


@kernel
def _take_operands(made: Ints, held: Flags, node: Matrix, operand: Ints, child: Ints, weight: Floats) -> Ints:
    """Let new connectives have their operands as children, and return those that may contain others: they are few."""
    hopeful = np.empty(len(made), np.int32)
    found, last = 0, len(held) - 1
    for each in made:
        start, size, op, shared = node[each, START], node[each, SIZE], node[each, OP], node[each, COUNT]
        pairs = int(shared > _MOST_PAIRED)
        if size > 2 and op <= ANY and not pairs:
            for number in range(start + 1, start + shared):
                for before in range(start, number):
                    pairs += held[_pair(op, child[before], child[number]) & last]
        hopeful[found] = each
        found += pairs > 0
        node[each, COUNT] = size
        for slot in range(start, start + size):
            child[slot] = operand[slot]
        sort_children(each, node, child, weight)
    return hopeful[:found]


@kernel
def _cover_all(hopeful: Ints, nodes: Nodes) -> None:
    """Choose the children of connectives anew, whose slots are apart."""
    for each in hopeful:
        cover(each, nodes)


@kernel
def _wake_all(made: Ints, nodes: Nodes) -> None:
    """Put the slots of new connectives into the lists of their children: users before their operands."""
    node, link, child, state = nodes.node, nodes.link, nodes.child, nodes.state
    demand = state[DEMAND] != 0
    for number in range(len(made) - 1, -1, -1):
        each = made[number]
        start = node[each, START]
        told = not demand or is_awake(each, node)
        by_all = told and (node[each, OP] != ALL or not demand)
        for slot in range(start, start + node[each, COUNT]):
            below, column = child[slot], QUIET
            link[slot, PART] = AMONG_QUIET
            if by_all or (told and slot == start):
                if node[below, OP] != LEAF and not is_awake(below, node) and link[node[below, START], PART] != APART:
                    push(below, nodes)
                link[slot, PART] = AMONG_WAKES
                column = WAKES
            after = node[below, column]
            link[slot, PARENT_NEXT], link[slot, PARENT_BEFORE] = after, NONE
            if after != NONE:
                link[after, PARENT_BEFORE] = slot
            node[below, column] = slot


@kernel
def _finish(made: Ints, older: bool, nodes: Nodes) -> None:
    """Set right what came too early: levels, who wakes nodes that others cover, and what older nodes read."""
    node = nodes.node
    for each in range(nodes.state[NODES]):
        if node[each, OP] == LEAF and is_awake(each, node):
            changed(each, nodes)
    settle(nodes)
    for each in made:
        # Its level is that of its operands so far, but it has other children.
        if node[each, COUNT] < node[each, SIZE]:
            relevel(each, nodes)
    if older:
        for each in made:
            adjust(each, nodes)
