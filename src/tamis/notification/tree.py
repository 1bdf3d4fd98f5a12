"""The augmented tree on radii, in flat arrays: its shape, and what an event does to it (specs/003 F5, seed §3.2).

This is the absolute form: a node keeps the ends of the intervals beneath it, not drifts, so it never has to be touched
when nobody beneath it is affected, and doubles are as exact as integers. A tree has a number of *slots*, each free or
the leaf of a circle; in the order of their slots leaves are sorted by radius. Above `FAN` neighbours there is a node,
and so on up to one root. What is free counts for nothing: its least radius is infinite and its greatest minus infinity.

A leaf stands for all subscriptions of a radius, so this is the two-level tree too (F10, seed §5): where an event meets
a part of a circle, the circle moves, and the ends of the leaf are those of its smallest and largest centre.
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.notification.circle import MEMBERS, Doubles, Longs, collapse, largest, move, smallest
from tamis.notification.law import high, low

#: Children of a node.
FAN: Final = 8
#: More levels than there ever are.
LEVELS: Final = 24

#: The columns of a node: the greatest and least left end, the least and greatest right end, the least and greatest
#: radius beneath it; the value to which everything beneath has been reset since, or NaN; how many leaves are beneath
#: it, or, in a slot, the number of its circle or `FREE`. In a slot with a circle the radii are those of the circle, and
#: what is beneath is the circle.
MAX_LOW: Final = 0
MIN_LOW: Final = 1
MIN_HIGH: Final = 2
MAX_HIGH: Final = 3
LEAST: Final = 4
GREATEST: Final = 5
RESET: Final = 6
LEAVES: Final = 7
NODE_COLUMNS: Final = 8
FREE: Final = -1.0

#: The columns of a tree: where its nodes begin, how many slots and levels above them it has, its law, and the greatest
#: serial number given to a leaf that shares its radius with others.
NODES: Final = 0
SLOTS: Final = 1
HEIGHT: Final = 2
LAW: Final = 3
SERIAL: Final = 4
TREE_COLUMNS: Final = 5


def nodes_for(slots: int) -> tuple[int, int]:
    """Return how many nodes a tree with so many slots has in all, and how many levels above the slots."""
    total = size = slots
    height = 0
    while size > 1:
        size = -(-size // FAN)
        total += size
        height += 1
    return total, height


@kernel
def level_base(slots: int, level: int) -> int:
    """Return where in a tree the nodes of a level begin."""
    base, size = 0, slots
    for _ in range(level):
        base += size
        size = (size + FAN - 1) // FAN
    return base


@kernel
def clear(nodes: Doubles, weights: Longs, node: int) -> None:
    """Let a node stand for nothing."""
    nodes[node, MAX_LOW] = -np.inf
    nodes[node, MIN_LOW] = np.inf
    nodes[node, MIN_HIGH] = np.inf
    nodes[node, MAX_HIGH] = -np.inf
    nodes[node, LEAST] = np.inf
    nodes[node, GREATEST] = -np.inf
    nodes[node, RESET] = np.nan
    nodes[node, LEAVES] = 0.0
    weights[node] = 0


@kernel
def write_leaf(
    nodes: Doubles,
    weights: Longs,
    node: int,
    circles: Longs,
    rings: Doubles,
    circle: int,
    law: int,
    may: float,
    must: float,
) -> None:
    """Let a slot stand for a circle with its radii."""
    bottom, top = smallest(circles, rings, circle), largest(circles, rings, circle)
    nodes[node, MAX_LOW] = low(law, top, may)
    nodes[node, MIN_LOW] = low(law, bottom, must)
    nodes[node, MIN_HIGH] = high(law, bottom, may)
    nodes[node, MAX_HIGH] = high(law, top, must)
    nodes[node, LEAST] = may
    nodes[node, GREATEST] = must
    nodes[node, RESET] = np.nan
    nodes[node, LEAVES] = circle
    weights[node] = circles[circle, MEMBERS]


@kernel
def pull_ends(nodes: Doubles, node: int, first: int, last: int) -> None:
    """Let a node have the ends of its children, from the first up to, not including, the last."""
    # What is free changes nothing, for each of its ends is the one that never counts.
    max_low, min_low, min_high, max_high = -np.inf, np.inf, np.inf, -np.inf
    for child in range(first, last):
        max_low = max(max_low, nodes[child, MAX_LOW])
        min_low = min(min_low, nodes[child, MIN_LOW])
        min_high = min(min_high, nodes[child, MIN_HIGH])
        max_high = max(max_high, nodes[child, MAX_HIGH])
    nodes[node, MAX_LOW], nodes[node, MIN_LOW] = max_low, min_low
    nodes[node, MIN_HIGH], nodes[node, MAX_HIGH] = min_high, max_high


@kernel
def pull(nodes: Doubles, weights: Longs, node: int, first: int, last: int, slots: bool) -> None:
    """Let a node stand for its children, from the first up to, not including, the last."""
    pull_ends(nodes, node, first, last)
    least, greatest, leaves, weight = np.inf, -np.inf, 0.0, 0
    for child in range(first, last):
        least, greatest = min(least, nodes[child, LEAST]), max(greatest, nodes[child, GREATEST])
        weight += weights[child]
        if not slots:
            leaves += nodes[child, LEAVES]
        elif nodes[child, LEAVES] != FREE:
            leaves += 1.0
    nodes[node, LEAST], nodes[node, GREATEST] = least, greatest
    nodes[node, RESET], nodes[node, LEAVES] = np.nan, leaves
    weights[node] = weight


@kernel
def reset(nodes: Doubles, node: int, law: int, value: float) -> None:
    """Let everything beneath a node have one centre."""
    least, greatest = nodes[node, LEAST], nodes[node, GREATEST]
    nodes[node, MAX_LOW] = low(law, value, least)
    nodes[node, MIN_LOW] = low(law, value, greatest)
    nodes[node, MIN_HIGH] = high(law, value, least)
    nodes[node, MAX_HIGH] = high(law, value, greatest)
    nodes[node, RESET] = value


@kernel
def push(nodes: Doubles, node: int, first: int, last: int, law: int) -> None:
    """Hand a reset that is due beneath a node to its children."""
    value = nodes[node, RESET]
    if np.isnan(value):
        return
    nodes[node, RESET] = np.nan
    for child in range(first, last):
        if nodes[child, LEAST] < np.inf:
            reset(nodes, child, law, value)


@kernel
def settle(nodes: Doubles, node: int, circles: Longs, rings: Doubles) -> None:
    """Hand a reset that is due in a slot to its circle."""
    value = nodes[node, RESET]
    if not np.isnan(value):
        nodes[node, RESET] = np.nan
        collapse(circles, rings, int(nodes[node, LEAVES]), value)


@kernel
def sweep(
    nodes: Doubles,
    weights: Longs,
    circles: Longs,
    rings: Doubles,
    trees: Longs,
    tree: int,
    value: float,
    first: int,
    last: int,
    runs: Longs,
    found: int,
    arcs: Longs,
    parts: int,
) -> tuple[int, int, int, int]:
    """Move everybody in the slots from `first` to `last` whose interval a value leaves.

    Writes into `runs`, from `found` on, the maximal runs of slots with somebody affected, in order: both ends are
    inside. Writes into `arcs`, from `parts` on, the circles of which only a part is: the circle, and from where to
    where in it. Returns how many of both there are then, how many are affected, and how many nodes were looked at.
    """
    offset, slots, height = trees[tree, NODES], trees[tree, SLOTS], trees[tree, HEIGHT]
    law = trees[tree, LAW]
    bases = np.empty(LEVELS, np.int64)
    ats = np.empty(LEVELS, np.int64)
    ends = np.empty(LEVELS, np.int64)
    sizes = np.empty(LEVELS, np.int64)
    base, size, span = offset, slots, 1
    for level in range(height + 1):
        bases[level], sizes[level] = base, size
        base += size
        size = (size + FAN - 1) // FAN
        if level < height:
            span *= FAN
    level = height
    ats[level], ends[level] = 0, 1
    affected = visits = 0
    run = until = -1
    while True:
        index = ats[level]
        if index == ends[level]:
            if level == height:
                break
            level += 1
            span *= FAN
            parent = ats[level] - 1
            inner = bases[level - 1]
            pull_ends(nodes, bases[level] + parent, inner + parent * FAN, inner + ends[level - 1])
            continue
        ats[level] = index + 1
        node = bases[level] + index
        visits += 1
        if nodes[node, MAX_LOW] < value < nodes[node, MIN_HIGH]:
            if run >= 0 and nodes[node, LEAST] < np.inf:
                runs[found, 0], runs[found, 1] = run, until
                found += 1
                run = -1
            continue
        begin = index * span
        end = min(begin + span, slots) - 1
        if end < first or begin > last:
            continue
        if (value >= nodes[node, MAX_HIGH] or value <= nodes[node, MIN_LOW]) and begin >= first and end <= last:
            reset(nodes, node, law, value)
            affected += weights[node]
            if run < 0:
                run = begin
            until = end
            continue
        begin = index * FAN
        children = min(begin + FAN, sizes[level - 1])
        inner = bases[level - 1]
        push(nodes, node, inner + begin, inner + children, law)
        if level > 1:
            level -= 1
            span //= FAN
            ats[level], ends[level] = begin, children
            continue
        # Slots are most of what is looked at: they have a loop of their own.
        for slot in range(max(begin, first), min(children, last + 1)):
            leaf = offset + slot
            if nodes[leaf, MAX_LOW] < value < nodes[leaf, MIN_HIGH]:
                if run >= 0 and nodes[leaf, LEAST] < np.inf:
                    runs[found, 0], runs[found, 1] = run, until
                    found += 1
                    run = -1
                continue
            if value >= nodes[leaf, MAX_HIGH] or value <= nodes[leaf, MIN_LOW]:
                reset(nodes, leaf, law, value)
                affected += weights[leaf]
            else:
                settle(nodes, leaf, circles, rings)
                circle, may, must = int(nodes[leaf, LEAVES]), nodes[leaf, LEAST], nodes[leaf, GREATEST]
                start, stop, count = move(circles, rings, circle, law, may, value)
                write_leaf(nodes, weights, leaf, circles, rings, circle, law, may, must)
                affected += count
                if start != stop:
                    arcs[parts, 0], arcs[parts, 1], arcs[parts, 2] = circle, start, stop
                    parts += 1
            if run < 0:
                run = slot
            until = slot
        visits += children - begin
        pull_ends(nodes, node, offset + begin, offset + children)
    if run >= 0:
        runs[found, 0], runs[found, 1] = run, until
        found += 1
    return found, parts, affected, visits


@kernel
def classify(
    nodes: Doubles,
    circles: Longs,
    rings: Doubles,
    trees: Longs,
    tree: int,
    value: float,
    trim: bool,
    runs: Longs,
) -> tuple[int, int]:
    """Find the runs of slots that may be told and in which somebody must; only hand resets down (specs/003 F11).

    With `trim`, a run begins and ends with a slot in which somebody must. Returns how many there are, and how many
    nodes were looked at.
    """
    offset, slots, height = trees[tree, NODES], trees[tree, SLOTS], trees[tree, HEIGHT]
    law = trees[tree, LAW]
    ats = np.empty(LEVELS, np.int64)
    ends = np.empty(LEVELS, np.int64)
    level, span = height, FAN**height
    ats[level], ends[level] = 0, 1
    found = visits = 0
    run = until = must_first = must_last = -1
    while True:
        index = ats[level]
        if index == ends[level]:
            if level == height:
                break
            level += 1
            span *= FAN
            continue
        ats[level] = index + 1
        base = offset + level_base(slots, level)
        node = base + index
        visits += 1
        if nodes[node, MAX_LOW] < value < nodes[node, MIN_HIGH]:
            if nodes[node, LEAST] < np.inf:
                if must_first >= 0:
                    runs[found, 0], runs[found, 1] = (must_first, must_last) if trim else (run, until)
                    found += 1
                run = must_first = -1
            continue
        begin = index * span
        end = min(begin + span, slots) - 1
        must = value >= nodes[node, MAX_HIGH] or value <= nodes[node, MIN_LOW]
        if not must and level > 0:
            begin = index * FAN
            inner = offset + level_base(slots, level - 1)
            children = min(begin + FAN, base - inner)
            push(nodes, node, inner + begin, inner + children, law)
            level -= 1
            span //= FAN
            ats[level], ends[level] = begin, children
            continue
        if not must:
            settle(nodes, node, circles, rings)
            circle, radius = int(nodes[node, LEAVES]), nodes[node, GREATEST]
            must = value >= high(law, smallest(circles, rings, circle), radius) or value <= low(
                law, largest(circles, rings, circle), radius
            )
        if run < 0:
            run = begin
        until = end
        if must:
            if must_first < 0:
                must_first = begin
            must_last = end
    if must_first >= 0:
        runs[found, 0], runs[found, 1] = (must_first, must_last) if trim else (run, until)
        found += 1
    return found, visits
