"""Whole trees at once: built from rows, read back as rows, and told to an event. Kernels on an arena's arrays."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.notification.circle import (
    BEDS,
    CENTRE,
    EPOCH,
    HEAD,
    MEMBERS,
    PLACE,
    RING,
    ROOM,
    RUNS,
    START,
    TREE,
    Doubles,
    Longs,
    run_of,
)
from tamis.notification.slots import lay_out, push_all
from tamis.notification.tree import (
    FREE,
    HEIGHT,
    LEAST,
    LEAVES,
    NODES,
    SLOTS,
    classify,
    level_base,
    reset,
    sweep,
)
from tamis.notification.tree import LAW as TREE_LAW


class Rows(NamedTuple):
    """Subscriptions as columns, sorted by tree, radii and label."""

    trees: Longs
    handles: Longs
    labels: Longs
    epochs: Longs
    mays: Doubles
    musts: Doubles
    centres: Doubles


@kernel
def build_circles(
    circles: Longs,
    radii: Doubles,
    rings: Doubles,
    first_circle: int,
    first_run: int,
    first_member: int,
    bounds: Longs,
    owners: Longs,
    mays: Doubles,
    musts: Doubles,
    row_centres: Doubles,
    epochs: Longs,
) -> int:
    """Make circles, numbered from `first_circle` on, of rows in the order of their labels; return the next free run.

    The rows of the circle numbered `n` are from `bounds[n]` up to `bounds[n + 1]`.
    """
    run = first_run
    for number in range(len(bounds) - 1):
        circle, begin, end = first_circle + number, bounds[number], bounds[number + 1]
        members = end - begin
        radii[circle, 0], radii[circle, 1] = mays[begin], musts[begin]
        circles[circle, TREE] = owners[begin]
        circles[circle, RING] = run
        circles[circle, HEAD] = 0
        circles[circle, PLACE] = first_member + begin
        circles[circle, BEDS] = circles[circle, MEMBERS] = members
        circles[circle, EPOCH] = epochs[begin]
        # Round the circle centres ascend, but for one place: that is the boundary.
        boundary = 0
        for position in range(1, members):
            if row_centres[begin + position] < row_centres[begin + position - 1]:
                boundary = position
        count = 0
        for step in range(members):
            position = (boundary + step) % members
            centre = row_centres[begin + position]
            if count == 0 or rings[run + count - 1, CENTRE] != centre:
                rings[run + count, CENTRE], rings[run + count, START] = centre, position
                count += 1
        circles[circle, ROOM] = circles[circle, RUNS] = count
        run += count
    return run


@kernel
def build_trees(
    nodes: Doubles,
    weights: Longs,
    circles: Longs,
    radii: Doubles,
    rings: Doubles,
    trees: Longs,
    chosen: Longs,
    first_circle: int,
    bounds: Longs,
) -> None:
    """Lay out trees, each of as many new circles as there are between its bounds."""
    for number in range(len(chosen)):
        tree = chosen[number]
        order = np.arange(first_circle + bounds[number], first_circle + bounds[number + 1])
        slots, height = trees[tree, SLOTS], trees[tree, HEIGHT]
        lay_out(nodes, weights, circles, radii, rings, trees, tree, 0, slots, height, order)


@kernel
def export_tree(
    nodes: Doubles,
    circles: Longs,
    radii: Doubles,
    rings: Doubles,
    handles: Longs,
    labels: Longs,
    trees: Longs,
    tree: int,
    at: int,
    numbers: Longs,
    reals: Doubles,
) -> int:
    """Write down the members of a tree from a row on, sorted by radii and label; return the next row.

    A row is `handle, label, epoch` in `numbers` and `may, must, centre` in `reals`.
    """
    offset, slots = trees[tree, NODES], trees[tree, SLOTS]
    push_all(nodes, circles, rings, trees, tree, 0, slots, trees[tree, HEIGHT])
    for slot in range(slots):
        if nodes[offset + slot, LEAVES] == FREE:
            continue
        circle = int(nodes[offset + slot, LEAVES])
        for position in range(circles[circle, MEMBERS]):
            run = (circles[circle, HEAD] + run_of(circles, rings, circle, position)) % circles[circle, ROOM]
            numbers[at, 0] = handles[circles[circle, PLACE] + position]
            numbers[at, 1] = labels[circles[circle, PLACE] + position]
            numbers[at, 2] = circles[circle, EPOCH]
            reals[at, 0], reals[at, 1] = radii[circle, 0], radii[circle, 1]
            reals[at, 2] = rings[circles[circle, RING] + run, CENTRE]
            at += 1
    return at


@kernel
def update_tree(
    nodes: Doubles,
    weights: Longs,
    circles: Longs,
    rings: Doubles,
    trees: Longs,
    tree: int,
    value: float,
    whole: bool,
    loose: bool,
    trim: bool,
    runs: Longs,
    arcs: Longs,
) -> tuple[int, int, int, int]:
    """Tell a tree of a value; with `whole` it is the first, for everybody. Returns as `sweep` does."""
    slots, height = trees[tree, SLOTS], trees[tree, HEIGHT]
    if whole:
        root = trees[tree, NODES] + level_base(slots, height)
        if weights[root] == 0:
            return 0, 0, 0, 1
        reset(nodes, root, trees[tree, TREE_LAW], value)
        runs[0, 0], runs[0, 1] = 0, slots - 1
        return 1, 0, weights[root], 1
    if not loose:
        return sweep(nodes, weights, circles, rings, trees, tree, value, 0, slots - 1, runs, 0, arcs, 0)
    kept = np.empty((slots // 2 + 1, 2), np.int64)
    count, visits = classify(nodes, circles, rings, trees, tree, value, trim, kept)
    found = parts = affected = 0
    for number in range(count):
        first, last = kept[number, 0], kept[number, 1]
        found, parts, more, looked = sweep(
            nodes,
            weights,
            circles,
            rings,
            trees,
            tree,
            value,
            first,
            last,
            runs,
            found,
            arcs,
            parts,
        )
        affected += more
        visits += looked
    return found, parts, affected, visits


@kernel
def expand(
    nodes: Doubles,
    circles: Longs,
    handles: Longs,
    trees: Longs,
    tree: int,
    runs: Longs,
    found: int,
    arcs: Longs,
    parts: int,
    out: npt.NDArray[Any],
    at: int,
) -> int:
    """Write down the handles of everybody in runs of slots, of some circles only arcs; return where it ends."""
    offset = trees[tree, NODES]
    part = 0
    for number in range(found):
        for slot in range(runs[number, 0], runs[number, 1] + 1):
            if nodes[offset + slot, LEAVES] == FREE:
                continue
            circle = int(nodes[offset + slot, LEAVES])
            place, members = circles[circle, PLACE], circles[circle, MEMBERS]
            if part < parts and arcs[part, 0] == circle:
                position, stop = arcs[part, 1], arcs[part, 2]
                part += 1
                while position != stop:
                    out[at] = handles[place + position]
                    at += 1
                    position = (position + 1) % members
                continue
            for position in range(place, place + members):
                out[at] = handles[position]
                at += 1
    return at


@kernel
def edges(nodes: Doubles, offset: int, runs: Longs, out: Doubles) -> None:
    """Write down the least and the greatest radius in each run of slots of the tree at an offset."""
    for number in range(len(runs)):
        slot = runs[number, 0]
        while nodes[offset + slot, LEAVES] == FREE:
            slot += 1
        out[number, 0] = nodes[offset + slot, LEAST]
        slot = runs[number, 1]
        while nodes[offset + slot, LEAVES] == FREE:
            slot -= 1
        out[number, 1] = nodes[offset + slot, LEAST]
