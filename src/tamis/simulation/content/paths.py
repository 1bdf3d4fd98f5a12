"""Messages in distributed B-trees: they enter at a root and descend to where they belong. Kernels on arrays."""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.notification.circle import Longs
from tamis.simulation.content.meter import ATTRIBUTE, HEADER, hop, originate
from tamis.simulation.content.nodes import COUNT, HOST, LEVEL, PARENT, child_at, leaf_of, place_of, put, take_out

#: Attributes of a shift of labels, and of what comes with all of them.
SHIFT: Final = 3


@kernel
def route(
    codes: Longs,
    items: Longs,
    facts: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    root: int,
    low: int,
    high: int,
    size: int,
    answer: int,
    out: Longs,
    at: int,
) -> int:
    """Send a message to everybody with a code from `low` to `high`; return where what it finds ends.

    A row of `out` is the item that was reached and the host where it is. With an `answer`, each leaf that the message
    finds anything in sends to the root so many bytes for every item.
    """
    originate(stress, facts[root, HOST])
    stack = np.empty(codes.shape[1] * (facts[root, LEVEL] + 1), np.int64)
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        host = facts[node, HOST]
        if facts[node, LEVEL] > 0:
            first, last = child_at(codes, facts, node, low), child_at(codes, facts, node, high)
            for each in range(last, first - 1, -1):
                stack[top] = items[node, each]
                hop(trace, tally, stress, host, facts[stack[top], HOST], size)
                top += 1
            continue
        begin = at
        for place in range(place_of(codes, facts, node, low), facts[node, COUNT]):
            if codes[node, place] > high:
                break
            out[at, 0], out[at, 1] = items[node, place], host
            at += 1
        if answer > 0 and at > begin:
            originate(stress, host)
            hop(trace, tally, stress, host, facts[root, HOST], HEADER + answer * (at - begin))
    return at


@kernel
def carry_to(
    codes: Longs,
    items: Longs,
    facts: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    root: int,
    old: int,
    new: int,
    size: int,
) -> None:
    """Send one message from the root to the leaves of two codes; as long as their ways are one, it is sent once."""
    originate(stress, facts[root, HOST])
    one = two = root
    while facts[one, LEVEL] > 0:
        next_one, next_two = items[one, child_at(codes, facts, one, old)], items[two, child_at(codes, facts, two, new)]
        hop(trace, tally, stress, facts[one, HOST], facts[next_one, HOST], size)
        if next_one != next_two:
            hop(trace, tally, stress, facts[two, HOST], facts[next_two, HOST], size)
        one, two = next_one, next_two


@kernel
def move_keys(
    codes: Longs,
    items: Longs,
    facts: Longs,
    loads: Longs,
    free: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    root: int,
    old: Longs,
    new: Longs,
    told: bool,
    size: int,
    done: int,
    least_free: int,
) -> int:
    """Register entries anew, each under another code, from `done` on; return how far it came before nodes ran out.

    Each takes a message from the root. If the leaf with the old code has been `told` already, it has given the entry up
    by itself; otherwise the message goes there too.
    """
    while done < len(old):
        if free[0] < least_free:
            return done
        leaf = leaf_of(codes, items, facts, root, old[done])
        carry_to(codes, items, facts, trace, tally, stress, root, new[done] if told else old[done], new[done], size)
        item = items[leaf, place_of(codes, facts, leaf, old[done])]
        take_out(codes, items, facts, loads, free, trace, tally, stress, leaf, old[done])
        leaf = leaf_of(codes, items, facts, root, new[done])
        put(codes, items, facts, loads, free, trace, tally, stress, leaf, new[done], item)
        done += 1
    return done


@kernel
def relabel(
    codes: Longs,
    items: Longs,
    facts: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    root: int,
    lows: Longs,
    highs: Longs,
    steps: Longs,
) -> None:
    """Shift codes, in order, from `lows` to `highs` by `steps`: in one message, of which each node gets its part."""
    originate(stress, facts[root, HOST])
    low, high = lows[0], highs[-1]
    stack = np.empty(codes.shape[1] * (facts[root, LEVEL] + 1), np.int64)
    visited = [root]
    visited.pop()
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        visited.append(node)
        if facts[node, LEVEL] == 0:
            for place in range(place_of(codes, facts, node, low), facts[node, COUNT]):
                shift = np.searchsorted(lows, codes[node, place], "right") - 1
                if shift >= 0 and codes[node, place] <= highs[shift]:
                    codes[node, place] += steps[shift]
            continue
        for each in range(child_at(codes, facts, node, low), child_at(codes, facts, node, high) + 1):
            begin = 0 if each == 0 else np.searchsorted(highs, codes[node, each])
            end = len(lows)
            if each + 1 < facts[node, COUNT]:
                end = np.searchsorted(lows, codes[node, each + 1])
            if begin < end:
                stack[top] = items[node, each]
                size = HEADER + ATTRIBUTE * (1 + SHIFT * (end - begin))
                hop(trace, tally, stress, facts[node, HOST], facts[stack[top], HOST], size)
                top += 1
    for number in range(len(visited) - 1, 0, -1):
        node = visited[number]
        parent = facts[node, PARENT]
        if facts[node, COUNT] > 0:
            at = 0
            while items[parent, at] != node:
                at += 1
            codes[parent, at] = codes[node, 0]


@kernel
def reach_labels(
    codes: Longs,
    items: Longs,
    facts: Longs,
    trace: Longs,
    tally: Longs,
    stress: Longs,
    secondaries: Longs,
    roots: Longs,
    parts: Longs,
    arcs: Longs,
    first_size: int,
    size: int,
    top: int,
    out: Longs,
) -> int:
    """Tell secondaries, each from the leaf that knows it, and let each tell its own; return how many were reached.

    A row of `secondaries` is a tree and the host of that leaf. `parts` are the trees of which only labels on an arc are
    told, in order, and `arcs` where those begin and before where they end.
    """
    at = 0
    for number in range(len(secondaries)):
        tree, source = secondaries[number, 0], secondaries[number, 1]
        root = roots[tree]
        hop(trace, tally, stress, source, facts[root, HOST], first_size)
        part = np.searchsorted(parts, tree)
        if part == len(parts) or parts[part] != tree:
            at = route(codes, items, facts, trace, tally, stress, root, 0, top, size, 0, out, at)
            continue
        start, stop = arcs[part, 0], arcs[part, 1]
        if start < stop:
            at = route(codes, items, facts, trace, tally, stress, root, start, stop - 1, size, 0, out, at)
            continue
        at = route(codes, items, facts, trace, tally, stress, root, start, top, size, 0, out, at)
        if stop > least(codes, items, facts, root):
            at = route(codes, items, facts, trace, tally, stress, root, 0, stop - 1, size, 0, out, at)
    return at


@kernel
def least(codes: Longs, items: Longs, facts: Longs, root: int) -> int:
    """Return the least code of a tree that is not empty."""
    node = root
    while facts[node, LEVEL] > 0:
        node = items[node, 0]
    return int(codes[node, 0])
