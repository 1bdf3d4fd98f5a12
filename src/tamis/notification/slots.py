"""Leaves come and go: the slots of a tree as a packed array with free places between (specs/003 F5, insert/delete).

A new leaf goes behind its predecessor. The smallest stretch under one node that is not too crowded with it is spread
out anew; the higher the node, the earlier it is crowded, so that an insertion moves few leaves, amortised. The path
from the root down to the stretch hands its resets down first, and is summed up afterwards.
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.notification.circle import SLOT, Doubles, Longs
from tamis.notification.tree import (
    FAN,
    FREE,
    GREATEST,
    HEIGHT,
    LAW,
    LEAST,
    LEAVES,
    NODES,
    SLOTS,
    clear,
    level_base,
    pull,
    push,
    settle,
    write_leaf,
)

#: The share of its slots that a whole tree may fill; the stretch under a lowest node may fill all.
FULLEST: Final = 0.75
#: So many slots has the smallest tree.
FEWEST: Final = 4


@kernel
def predecessor(nodes: Doubles, trees: Longs, tree: int, may: float, must: float) -> int:
    """Return the last slot whose radii are not greater, or -1 if there is none."""
    offset, slots, height = trees[tree, NODES], trees[tree, SLOTS], trees[tree, HEIGHT]
    if not nodes[offset + level_base(slots, height), LEAST] <= may:
        return -1
    index = 0
    for level in range(height - 1, -1, -1):
        base = offset + level_base(slots, level)
        end = min(index * FAN + FAN, level_base(slots, level + 1) - level_base(slots, level))
        for child in range(end - 1, index * FAN - 1, -1):
            if nodes[base + child, LEAST] <= may:
                index = child
                break
    while index >= 0:
        node = offset + index
        if nodes[node, LEAVES] != FREE and (nodes[node, LEAST] < may or nodes[node, GREATEST] <= must):
            break
        index -= 1
    return index


@kernel
def push_path(nodes: Doubles, circles: Longs, rings: Doubles, trees: Longs, tree: int, slot: int, above: int) -> None:
    """Hand down the resets on the path from the root to a slot, from nodes above a level."""
    offset, slots, height, law = trees[tree, NODES], trees[tree, SLOTS], trees[tree, HEIGHT], trees[tree, LAW]
    for level in range(height, above, -1):
        index = slot // FAN**level
        inner = level_base(slots, level - 1)
        base = level_base(slots, level)
        end = min(index * FAN + FAN, base - inner)
        first, last = offset + inner + index * FAN, offset + inner + end
        push(nodes, offset + base + index, first, last, law)
    if above == 0:
        settle(nodes, offset + slot, circles, rings)


@kernel
def pull_path(nodes: Doubles, weights: Longs, trees: Longs, tree: int, slot: int, above: int) -> None:
    """Sum up the path from a slot to the root, nodes above a level."""
    offset, slots, height = trees[tree, NODES], trees[tree, SLOTS], trees[tree, HEIGHT]
    for level in range(above + 1, height + 1):
        index = slot // FAN**level
        inner = level_base(slots, level - 1)
        base = level_base(slots, level)
        end = min(index * FAN + FAN, base - inner)
        pull(nodes, weights, offset + base + index, offset + inner + index * FAN, offset + inner + end, level == 1)


@kernel
def roomy_level(nodes: Doubles, trees: Longs, tree: int, slot: int) -> int:
    """Return the lowest level at which the node above a slot has room for another leaf, or -1 if none has."""
    offset, slots, height = trees[tree, NODES], trees[tree, SLOTS], trees[tree, HEIGHT]
    for level in range(1, height + 1):
        span = FAN**level
        index = slot // span
        width = min(span, slots - index * span)
        share = 1.0 if height == 1 else 1.0 - (1.0 - FULLEST) * (level - 1) / (height - 1)
        if nodes[offset + level_base(slots, level) + index, LEAVES] + 1 <= share * width:
            return level
    return -1


@kernel
def leaves_between(nodes: Doubles, offset: int, begin: int, end: int, out: Longs) -> int:
    """Write down the circles in some slots of the tree at an offset; return how many there are."""
    found = 0
    for slot in range(begin, end):
        if nodes[offset + slot, LEAVES] != FREE:
            out[found] = int(nodes[offset + slot, LEAVES])
            found += 1
    return found


@kernel
def lay_out(
    nodes: Doubles,
    weights: Longs,
    circles: Longs,
    radii: Doubles,
    rings: Doubles,
    trees: Longs,
    tree: int,
    begin: int,
    end: int,
    level: int,
    order: Longs,
) -> None:
    """Spread leaves over the slots from `begin` up to, not including, `end`, which are those under a node of a level.

    `order` has the circles; nothing is due to be reset in these slots.
    """
    offset, slots, law = trees[tree, NODES], trees[tree, SLOTS], trees[tree, LAW]
    for slot in range(begin, end):
        clear(nodes, weights, offset + slot)
        nodes[offset + slot, LEAVES] = FREE
    width, count = end - begin, len(order)
    for number in range(count):
        circle, slot = order[number], begin + number * width // count
        circles[circle, SLOT] = slot
        write_leaf(nodes, weights, offset + slot, circles, rings, circle, law, radii[circle, 0], radii[circle, 1])
    for above in range(1, level + 1):
        inner, base = level_base(slots, above - 1), level_base(slots, above)
        size = base - inner
        for index in range(begin // FAN**above, (end - 1) // FAN**above + 1):
            last = min(index * FAN + FAN, size)
            pull(nodes, weights, offset + base + index, offset + inner + index * FAN, offset + inner + last, above == 1)


@kernel
def push_all(
    nodes: Doubles,
    circles: Longs,
    rings: Doubles,
    trees: Longs,
    tree: int,
    begin: int,
    end: int,
    level: int,
) -> None:
    """Hand down all resets that are due under a node of a level, whose slots are from `begin` up to `end`."""
    offset, slots, law = trees[tree, NODES], trees[tree, SLOTS], trees[tree, LAW]
    for above in range(level, 0, -1):
        inner, base = level_base(slots, above - 1), level_base(slots, above)
        for index in range(begin // FAN**above, (end - 1) // FAN**above + 1):
            last = min(index * FAN + FAN, base - inner)
            first = offset + inner + index * FAN
            push(nodes, offset + base + index, first, offset + inner + last, law)
    for slot in range(offset + begin, offset + end):
        settle(nodes, slot, circles, rings)


@kernel
def insert_leaf(
    nodes: Doubles,
    weights: Longs,
    circles: Longs,
    radii: Doubles,
    rings: Doubles,
    trees: Longs,
    tree: int,
    before: int,
    circle: int,
) -> bool:
    """Put the leaf of a new circle behind a slot, or first if that is -1; False if the tree is too full."""
    offset, slots, height = trees[tree, NODES], trees[tree, SLOTS], trees[tree, HEIGHT]
    near = max(before, 0)
    level = roomy_level(nodes, trees, tree, near)
    if level < 0:
        return False
    span = FAN**level
    begin = near // span * span
    end = min(begin + span, slots)
    push_path(nodes, circles, rings, trees, tree, near, level)
    push_all(nodes, circles, rings, trees, tree, begin, end, level)
    order = np.empty(end - begin + 1, np.int64)
    count = leaves_between(nodes, offset, begin, before + 1, order)
    order[count] = circle
    count += 1
    count += leaves_between(nodes, offset, before + 1 if before >= 0 else begin, end, order[count:])
    lay_out(nodes, weights, circles, radii, rings, trees, tree, begin, end, level, order[:count])
    if level < height:
        pull_path(nodes, weights, trees, tree, near, level)
    return True


@kernel
def remove_leaf(
    nodes: Doubles, weights: Longs, circles: Longs, rings: Doubles, trees: Longs, tree: int, slot: int
) -> None:
    """Free a slot."""
    offset = trees[tree, NODES]
    push_path(nodes, circles, rings, trees, tree, slot, 0)
    clear(nodes, weights, offset + slot)
    nodes[offset + slot, LEAVES] = FREE
    pull_path(nodes, weights, trees, tree, slot, 0)
