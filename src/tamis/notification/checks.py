"""Does everything in an arena fit together? For tests and for `check_invariants`."""

import numpy as np

from tamis.notification.arena import Arena
from tamis.notification.circle import (
    BEDS,
    CENTRE,
    HEAD,
    MEMBERS,
    PLACE,
    RING,
    ROOM,
    RUNS,
    SLOT,
    START,
    TREE,
)
from tamis.notification.tree import (
    FAN,
    FREE,
    GREATEST,
    HEIGHT,
    LEAST,
    LEAVES,
    MAX_HIGH,
    MAX_LOW,
    MIN_HIGH,
    MIN_LOW,
    NODES,
    SLOTS,
    level_base,
)


def check_arena(arena: Arena) -> None:
    """Raise `AssertionError` if something does not fit together; resets that are due are handed down."""
    for tree in range(arena.tree_count):
        order = arena.leaves(tree)
        keys = [tuple(pair) for pair in arena.radii[order].tolist()]
        assert keys == sorted(keys)
        offset, slots = int(arena.trees[tree, NODES]), int(arena.trees[tree, SLOTS])
        taken = arena.nodes[offset : offset + slots, LEAVES]
        assert taken[taken != FREE].tolist() == order.tolist()
        assert (arena.circles[order, TREE] == tree).all()
        assert arena.circles[order, SLOT].tolist() == np.flatnonzero(taken != FREE).tolist()
        assert arena.weight(tree) == sum(_checked_circle(arena, circle) for circle in order.tolist())
        _check_nodes(arena, tree)


def _checked_circle(arena: Arena, circle: int) -> int:
    """Check a circle, and return how many members it has."""
    row = arena.circles[circle]
    ring, place, members = int(row[RING]), int(row[PLACE]), int(row[MEMBERS])
    at = ring + (row[HEAD] + np.arange(row[RUNS])) % row[ROOM]
    assert 0 < row[RUNS] <= min(row[ROOM], members)
    assert members <= row[BEDS]
    # The boundary has the smallest centre, and round the circle they ascend.
    assert (np.diff(arena.rings[at, CENTRE]) > 0).all()
    turned = (arena.rings[at, START] - arena.rings[at[0], START]) % members
    assert (np.diff(turned) > 0).all()
    assert row[RUNS] > 1 or arena.rings[at[0], START] == 0
    assert (np.diff(arena.labels[place : place + members]) > 0).all()
    assert (arena.circle_of[arena.handles[place : place + members]] == circle).all()
    return members


def _check_nodes(arena: Arena, tree: int) -> None:
    """Check that every node sums up its children."""
    offset, slots, height = (int(arena.trees[tree, column]) for column in (NODES, SLOTS, HEIGHT))
    greatest, least = [MAX_LOW, MAX_HIGH, GREATEST], [MIN_LOW, MIN_HIGH, LEAST]
    for level in range(1, height + 1):
        inner, base, end = (level_base(slots, level + step) for step in (-1, 0, 1))
        for index in range(end - base):
            children = slice(offset + inner + index * FAN, offset + inner + min(index * FAN + FAN, base - inner))
            node = offset + base + index
            assert (arena.nodes[node, greatest] == arena.nodes[children][:, greatest].max(axis=0)).all()
            assert (arena.nodes[node, least] == arena.nodes[children][:, least].min(axis=0)).all()
            assert arena.weights[node] == arena.weights[children].sum()
