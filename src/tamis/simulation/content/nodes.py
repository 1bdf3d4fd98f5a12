"""Nodes of distributed B-trees: how they are searched, split and merged, and what that costs. Kernels on arrays.

A node is a row. A leaf has codes in order, each with an item; an inner node has children in order, each with the least
code that belongs to it, but for the first, which takes everything smaller too. Nodes have hosts; what one tells another
on a different host is a message. A node that is too full hands its upper half to a new one on the host with the fewest
entries; one that is less than a quarter full joins its neighbour if both fit well into one.
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.notification.circle import Longs
from tamis.simulation.content.meter import ATTRIBUTE, HEADER, hop, originate

#: The columns of a node: its host; how many entries it has; how far above the leaves it is; its parent, or `NONE`; for
#: a root, the least level at which it stands.
HOST: Final = 0
COUNT: Final = 1
LEVEL: Final = 2
PARENT: Final = 3
FLOOR: Final = 4
COLUMNS: Final = 5

NONE: Final = -1
#: Bytes of an entry that moves from node to node: a code and an item.
ENTRY: Final = 2 * ATTRIBUTE
#: A change in one place splits or joins at most one node on each level, and makes a new root.
MOST_NEW: Final = 24


@kernel
def child_at(codes: Longs, facts: Longs, node: int, code: int) -> int:
    """Return the position of the child to which a code belongs."""
    low, high = 1, facts[node, COUNT]
    while low < high:
        middle = (low + high) // 2
        if codes[node, middle] <= code:
            low = middle + 1
        else:
            high = middle
    return low - 1


@kernel
def place_of(codes: Longs, facts: Longs, leaf: int, code: int) -> int:
    """Return the position of the first code in a leaf that is not less."""
    low, high = 0, facts[leaf, COUNT]
    while low < high:
        middle = (low + high) // 2
        if codes[leaf, middle] < code:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def leaf_of(codes: Longs, items: Longs, facts: Longs, root: int, code: int) -> int:
    """Return the leaf to which a code belongs."""
    node = root
    while facts[node, LEVEL] > 0:
        node = items[node, child_at(codes, facts, node, code)]
    return int(node)


@kernel
def put(
    codes: Longs,
    items: Longs,
    facts: Longs,
    loads: Longs,
    free: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    leaf: int,
    code: int,
    item: int,
) -> None:
    """Put an entry into a leaf, and split what is too full; there are free nodes enough."""
    node, position = leaf, place_of(codes, facts, leaf, code)
    while True:
        count = facts[node, COUNT]
        for at in range(count, position, -1):
            codes[node, at], items[node, at] = codes[node, at - 1], items[node, at - 1]
        codes[node, position], items[node, position] = code, item
        facts[node, COUNT] = count + 1
        loads[facts[node, HOST]] += 1
        if facts[node, LEVEL] > 0:
            facts[item, PARENT] = node
        # One place more than a node may keep.
        if count + 1 < codes.shape[1]:
            return
        if facts[node, PARENT] == NONE:
            node = _lower(codes, items, facts, loads, free, trace, tally, stress, node)
        new = _split(codes, items, facts, loads, free, trace, tally, stress, node)
        parent = facts[node, PARENT]
        originate(stress, facts[node, HOST])
        hop(trace, tally, stress, facts[node, HOST], facts[parent, HOST], HEADER + ENTRY)
        code, item = codes[new, 0], new
        position = _position_in(items, parent, node) + 1
        node = parent


@kernel
def take_out(
    codes: Longs,
    items: Longs,
    facts: Longs,
    loads: Longs,
    free: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    leaf: int,
    code: int,
) -> bool:
    """Take an entry out of a leaf, and join what is too empty; False if it is not there."""
    position = place_of(codes, facts, leaf, code)
    if position == facts[leaf, COUNT] or codes[leaf, position] != code:
        return False
    _drop(codes, items, facts, loads, leaf, position)
    node = leaf
    quarter = (codes.shape[1] - 1) // 4
    while facts[node, PARENT] != NONE and facts[node, COUNT] < max(1, quarter):
        parent = facts[node, PARENT]
        at = _position_in(items, parent, node)
        if facts[parent, COUNT] == 1:
            if facts[node, COUNT] > 0 or facts[parent, PARENT] == NONE:
                break
            _release(free, node)
            _drop(codes, items, facts, loads, parent, 0)
            node = parent
            continue
        first = at if at + 1 < facts[parent, COUNT] else at - 1
        one, two = items[parent, first], items[parent, first + 1]
        if facts[node, COUNT] > 0 and facts[one, COUNT] + facts[two, COUNT] > 3 * quarter:
            break
        if facts[two, LEVEL] > 0:
            codes[two, 0] = codes[parent, first + 1]
        if facts[one, COUNT] == 0:
            # It becomes the other one, where that is, and takes what belongs to both.
            facts[one, HOST] = facts[two, HOST]
            codes[two, 0] = codes[parent, first] if facts[two, LEVEL] > 0 else codes[two, 0]
        if facts[two, COUNT] > 0:
            _move(codes, items, facts, loads, trace, tally, stress, two, 0, one)
        _release(free, two)
        _drop(codes, items, facts, loads, parent, first + 1)
        originate(stress, facts[one, HOST])
        hop(trace, tally, stress, facts[one, HOST], facts[parent, HOST], HEADER + ENTRY)
        node = parent
    root = node
    while facts[root, PARENT] != NONE:
        root = facts[root, PARENT]
    _lift(codes, items, facts, loads, free, trace, tally, stress, root)
    return True


@kernel
def new_node(facts: Longs, loads: Longs, free: Longs, level: int) -> int:
    """Return an empty node on the host with the fewest entries; host 0 is the server, and takes only roots."""
    free[0] -= 1
    node = free[1 + free[0]]
    facts[node, HOST] = 1 + np.argmin(loads[1:])
    facts[node, COUNT] = 0
    facts[node, LEVEL] = level
    facts[node, PARENT] = NONE
    facts[node, FLOOR] = 0
    return int(node)


@kernel
def _release(free: Longs, node: int) -> None:
    free[1 + free[0]] = node
    free[0] += 1


@kernel
def _position_in(items: Longs, parent: int, node: int) -> int:
    at = 0
    while items[parent, at] != node:
        at += 1
    return at


@kernel
def _drop(codes: Longs, items: Longs, facts: Longs, loads: Longs, node: int, position: int) -> None:
    count = facts[node, COUNT]
    for at in range(position, count - 1):
        codes[node, at], items[node, at] = codes[node, at + 1], items[node, at + 1]
    facts[node, COUNT] = count - 1
    loads[facts[node, HOST]] -= 1


@kernel
def _move(
    codes: Longs,
    items: Longs,
    facts: Longs,
    loads: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    source: int,
    begin: int,
    target: int,
) -> None:
    """Move the entries of a node from a position on to the end of another one, in one message."""
    count, filled = facts[source, COUNT], facts[target, COUNT]
    for at in range(begin, count):
        to = filled + at - begin
        codes[target, to], items[target, to] = codes[source, at], items[source, at]
        if facts[source, LEVEL] > 0:
            facts[items[source, at], PARENT] = target
    facts[source, COUNT] = begin
    facts[target, COUNT] = filled + count - begin
    loads[facts[source, HOST]] -= count - begin
    loads[facts[target, HOST]] += count - begin
    originate(stress, facts[source, HOST])
    hop(trace, tally, stress, facts[source, HOST], facts[target, HOST], HEADER + (count - begin) * ENTRY)


@kernel
def _split(
    codes: Longs,
    items: Longs,
    facts: Longs,
    loads: Longs,
    free: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    node: int,
) -> int:
    """Move the upper half of a node to a new one, and return that; the parent does not know it yet."""
    new = new_node(facts, loads, free, facts[node, LEVEL])
    _move(codes, items, facts, loads, trace, tally, stress, node, facts[node, COUNT] // 2, new)
    return new


@kernel
def _lower(
    codes: Longs,
    items: Longs,
    facts: Longs,
    loads: Longs,
    free: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    root: int,
) -> int:
    """Hand everything in a root to a new node, its only child, and return that."""
    child = new_node(facts, loads, free, facts[root, LEVEL])
    _move(codes, items, facts, loads, trace, tally, stress, root, 0, child)
    facts[root, LEVEL] += 1
    facts[root, COUNT] = 1
    codes[root, 0], items[root, 0] = codes[child, 0], child
    facts[child, PARENT] = root
    loads[facts[root, HOST]] += 1
    return child


@kernel
def _lift(
    codes: Longs,
    items: Longs,
    facts: Longs,
    loads: Longs,
    free: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    root: int,
) -> None:
    """Let a root take over from its only child, as long as it has one, down to its floor."""
    while facts[root, COUNT] == 1 and facts[root, LEVEL] > facts[root, FLOOR]:
        child = items[root, 0]
        _drop(codes, items, facts, loads, root, 0)
        facts[root, LEVEL] -= 1
        if facts[child, COUNT] > 0:
            _move(codes, items, facts, loads, trace, tally, stress, child, 0, root)
        _release(free, child)
