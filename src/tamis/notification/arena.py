"""Many trees on radii in one set of arrays: what `Watch` and `WatchSet` keep their subscriptions in.

Subscriptions are known by *handle*, a small integer that the user of an arena gives out; trees and circles are numbers
too. Arrays only grow, by doubling, and what is freed is used again, so memory stays near its peak. An arena is for one
thread at a time.
"""

from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np

from tamis.notification.circle import (
    BEDS,
    CENTRE,
    COLUMNS,
    EPOCH,
    HEAD,
    MEMBERS,
    PLACE,
    RING,
    ROOM,
    RUNS,
    SLOT,
    TREE,
    Doubles,
    Longs,
    close_run,
    gap_for,
    open_run,
    run_of,
    smallest,
)
from tamis.notification.labels import STEP, insert_label
from tamis.notification.rows import Rows, build_circles, build_trees, expand, export_tree, update_tree
from tamis.notification.slots import (
    FEWEST,
    FULLEST,
    insert_leaf,
    lay_out,
    leaves_between,
    predecessor,
    pull_path,
    push_all,
    push_path,
    remove_leaf,
)
from tamis.notification.tree import (
    HEIGHT,
    LAW,
    LEAVES,
    NODE_COLUMNS,
    NODES,
    SERIAL,
    SLOTS,
    TREE_COLUMNS,
    nodes_for,
    write_leaf,
)

#: As a circle: none.
NOBODY: Final = -1


class Sharing(IntEnum):
    """What a new subscription does with a radius that is there already."""

    #: It has its own centre, in the circle of the radius (specs/003 F8).
    CIRCLE = 0
    #: It takes over the centre of the radius (F13).
    RELAXED = 1
    #: It is a leaf of its own: where there is no circular order (F11, F12).
    ALONE = 2


class Told(NamedTuple):
    """What an event did to a tree: runs of slots, arcs of circles, and how much of all there was."""

    ranges: int
    arcs: int
    affected: int
    visits: int


class Arena:
    """Trees on radii, each with its law."""

    def __init__(self) -> None:
        self.nodes: Doubles = np.empty((0, NODE_COLUMNS))
        self.weights: Longs = np.empty(0, np.int64)
        self.trees: Longs = np.empty((0, TREE_COLUMNS), np.int64)
        self.circles: Longs = np.empty((0, COLUMNS), np.int64)
        self.radii: Doubles = np.empty((0, 2))
        self.rings: Doubles = np.empty((0, 2))
        self.handles: Longs = np.empty(0, np.int64)
        self.labels: Longs = np.empty(0, np.int64)
        #: By handle: its circle, or `NOBODY`.
        self.circle_of: Longs = np.empty(0, np.int64)
        #: What the last event did: runs of slots, and arcs of circles.
        self.runs: Longs = np.empty((2, 2), np.int64)
        self.arcs: Longs = np.empty((4, 3), np.int64)
        self._used_nodes = self._used_trees = self._used_circles = self._used_runs = self._used_members = 0
        self._free: list[int] = []
        #: For each relabelling both radii, the new epoch, and labels before and after; None while nobody asks for them.
        self.relabelled: list[tuple[float, float, int, Longs, Longs]] | None = None

    # --- one by one ---------------------------------------------------------------------------------

    def new_tree(self, law: int) -> int:
        """Return a new tree without subscriptions."""
        tree = self._used_trees
        self._used_trees += 1
        self.trees = _roomy(self.trees, self._used_trees)
        self.trees[tree, LAW], self.trees[tree, SERIAL] = law, 0
        self._lay_out(tree, FEWEST, np.empty(0, np.int64))
        return tree

    def add(self, tree: int, handle: int, may: float, must: float, value: float, sharing: Sharing) -> float:
        """Add a subscription with the current value as its centre; return the centre that it got."""
        slot = predecessor(self.nodes, self.trees, tree, may, must)
        if slot >= 0 and sharing is not Sharing.ALONE:
            circle = int(self.nodes[self.trees[tree, NODES] + slot, LEAVES])
            if self.radii[circle, 0] == may and self.radii[circle, 1] == must:
                self._push_path(circle)
                if sharing is Sharing.RELAXED:
                    value = float(smallest(self.circles, self.rings, circle))
                self._join(circle, handle, value)
                self._pull_path(circle)
                return value
        circle = self._new_circle(tree, may, must)
        self._join(circle, handle, value)
        if sharing is Sharing.ALONE:
            self.trees[tree, SERIAL] += 1
            self.labels[self.circles[circle, PLACE]] = self.trees[tree, SERIAL]
        inserted = (self.nodes, self.weights, self.circles, self.radii, self.rings, self.trees, tree)
        if not insert_leaf(*inserted, slot, circle):
            self._lay_out(tree, 2 * int(self.trees[tree, SLOTS]), self.leaves(tree))
            slot = predecessor(self.nodes, self.trees, tree, may, must)
            insert_leaf(self.nodes, self.weights, *inserted[2:], slot, circle)
        return value

    def remove(self, handle: int) -> None:
        """Remove a subscription."""
        circle = int(self.circle_of[handle])
        self.circle_of[handle] = NOBODY
        self._push_path(circle)
        row = self.circles[circle]
        place, members = int(row[PLACE]), int(row[MEMBERS])
        position = self._position(circle, handle)
        close_run(self.circles, self.rings, circle, position)
        for array in (self.handles, self.labels):
            array[place + position : place + members - 1] = array[place + position + 1 : place + members]
        if members > 1:
            self._pull_path(circle)
            return
        self._free.append(circle)
        tree = int(row[TREE])
        remove_leaf(self.nodes, self.weights, self.circles, self.rings, self.trees, tree, int(row[SLOT]))

    def place(self, handle: int) -> tuple[int, float, float, int, int, float]:
        """Return the tree, both radii, the label, its epoch, and the centre of a subscription."""
        circle = int(self.circle_of[handle])
        self._push_path(circle)
        row = self.circles[circle]
        position = self._position(circle, handle)
        run = (row[HEAD] + run_of(self.circles, self.rings, circle, position)) % row[ROOM]
        may, must = self.radii[circle].tolist()
        label = int(self.labels[row[PLACE] + position])
        return int(row[TREE]), may, must, label, int(row[EPOCH]), float(self.rings[row[RING] + run, CENTRE])

    # --- events -------------------------------------------------------------------------------------

    def update(self, tree: int, value: float, whole: bool, loose: bool, trim: bool) -> Told:
        """Tell a tree of a value: everybody, if it is the first one."""
        return Told(
            *update_tree(
                self.nodes,
                self.weights,
                self.circles,
                self.rings,
                self.trees,
                tree,
                value,
                whole,
                loose,
                trim,
                self.runs,
                self.arcs,
            )
        )

    def told(self, tree: int, told: Told) -> Longs:
        """Return the handles of everybody that the last event affected."""
        out = np.empty(told.affected, np.int64)
        expand(
            self.nodes,
            self.circles,
            self.handles,
            self.trees,
            tree,
            self.runs,
            told.ranges,
            self.arcs,
            told.arcs,
            out,
            0,
        )
        return out

    # --- all at once --------------------------------------------------------------------------------

    def load(self, rows: Rows, sharing: Sharing, relabel: bool) -> None:
        """Add subscriptions to trees that have none; `relabel` gives them new labels, in the order of the rows."""
        count = len(rows.handles)
        if not count:
            return
        new_tree = np.append(True, rows.trees[1:] != rows.trees[:-1])
        new = new_tree | np.append(True, (np.diff(rows.mays) != 0) | (np.diff(rows.musts) != 0))
        if sharing is Sharing.ALONE:
            new[:] = True
        bounds = np.append(np.flatnonzero(new), count)
        labels = rows.labels
        chosen = rows.trees[new_tree]
        tree_bounds = np.append(np.flatnonzero(new_tree), count)
        if relabel:
            within = bounds if sharing is not Sharing.ALONE else tree_bounds
            positions = np.arange(count) - np.repeat(within[:-1], np.diff(within))
            labels = positions + 1 if sharing is Sharing.ALONE else positions * STEP + (STEP - 1)
        if sharing is Sharing.ALONE:
            self.trees[chosen, SERIAL] = np.maximum.reduceat(labels, tree_bounds[:-1])
        circles, first, run, member = len(bounds) - 1, self._used_circles, self._used_runs, self._used_members
        self._used_circles += circles
        self._used_members += count
        self._make_room(count)
        self.handles[member : member + count] = rows.handles
        self.labels[member : member + count] = labels
        self.circle_of = _roomy(self.circle_of, int(rows.handles.max()) + 1)
        self.circle_of[rows.handles] = first + np.repeat(np.arange(circles), np.diff(bounds))
        self._used_runs = build_circles(
            self.circles,
            self.radii,
            self.rings,
            first,
            run,
            member,
            bounds,
            rows.trees,
            rows.mays,
            rows.musts,
            rows.centres,
            rows.epochs,
        )
        leaves = np.searchsorted(bounds, tree_bounds)
        for tree, many in zip(chosen.tolist(), np.diff(leaves).tolist(), strict=True):
            self._plant(tree, max(FEWEST, int(many / FULLEST) + 1))
        build_trees(self.nodes, self.weights, self.circles, self.radii, self.rings, self.trees, chosen, first, leaves)

    def rows(self, trees: Longs) -> Rows:
        """Return the subscriptions of some trees, in the order in which these are given."""
        counts = [self.weight(tree) for tree in trees.tolist()]
        numbers, reals = np.empty((sum(counts), 3), np.int64), np.empty((sum(counts), 3))
        at = 0
        for tree in trees.tolist():
            at = export_tree(
                self.nodes,
                self.circles,
                self.radii,
                self.rings,
                self.handles,
                self.labels,
                self.trees,
                tree,
                at,
                numbers,
                reals,
            )
        return Rows(np.repeat(trees, counts), *numbers.T.copy(), *reals.T.copy())

    def leaves(self, tree: int) -> Longs:
        """Return the circles of a tree in order, after which nothing in it is due to be reset."""
        offset, slots, height = (int(self.trees[tree, column]) for column in (NODES, SLOTS, HEIGHT))
        push_all(self.nodes, self.circles, self.rings, self.trees, tree, 0, slots, height)
        order = np.empty(slots, np.int64)
        return order[: leaves_between(self.nodes, offset, 0, slots, order)]

    def weight(self, tree: int) -> int:
        """Return how many subscriptions a tree has."""
        offset, slots = int(self.trees[tree, NODES]), int(self.trees[tree, SLOTS])
        return int(self.weights[offset + nodes_for(slots)[0] - 1])

    @property
    def tree_count(self) -> int:
        """How many trees there are."""
        return self._used_trees

    @property
    def bytes(self) -> int:
        """How much memory the arrays take."""
        arrays = (self.nodes, self.weights, self.trees, self.circles, self.radii, self.rings)
        return sum(each.nbytes for each in (*arrays, self.handles, self.labels, self.circle_of))

    # --- inside -------------------------------------------------------------------------------------

    def _push_path(self, circle: int) -> None:
        tree, slot = int(self.circles[circle, TREE]), int(self.circles[circle, SLOT])
        push_path(self.nodes, self.circles, self.rings, self.trees, tree, slot, 0)

    def _pull_path(self, circle: int) -> None:
        tree, slot = int(self.circles[circle, TREE]), int(self.circles[circle, SLOT])
        node, law = int(self.trees[tree, NODES]) + slot, int(self.trees[tree, LAW])
        may, must = self.radii[circle].tolist()
        write_leaf(self.nodes, self.weights, node, self.circles, self.rings, circle, law, may, must)
        pull_path(self.nodes, self.weights, self.trees, tree, slot, 0)

    def _position(self, circle: int, handle: int) -> int:
        place, members = self.circles[circle, PLACE], self.circles[circle, MEMBERS]
        return int(np.flatnonzero(self.handles[place : place + members] == handle)[0])

    def _new_circle(self, tree: int, may: float, must: float) -> int:
        if self._free:
            circle = self._free.pop()
        else:
            circle = self._used_circles
            self._used_circles += 1
            self.circles = _roomy(self.circles, self._used_circles)
            self.radii = _roomy(self.radii, self._used_circles)
            self.circles[circle] = 0
        self.circles[circle, [TREE, HEAD, RUNS, MEMBERS, EPOCH]] = tree, 0, 0, 0, 0
        self.radii[circle] = may, must
        return circle

    def _join(self, circle: int, handle: int, value: float) -> None:
        """Take a member into a circle."""
        row = self.circles[circle]
        if row[RUNS] == row[ROOM]:
            self._move_ring(row)
        if row[MEMBERS] == row[BEDS]:
            self._move_members(row)
        place, members = int(row[PLACE]), int(row[MEMBERS])
        position = gap_for(self.circles, self.rings, circle, value)
        before = self.labels[place : place + members].copy()
        first, last = insert_label(self.labels, place, members, position)
        if first < last:
            row[EPOCH] += 1
            if self.relabelled is not None:
                # The new member had no label before.
                after = np.delete(self.labels[place + first : place + last], position - first)
                may, must = self.radii[circle].tolist()
                self.relabelled.append((may, must, int(row[EPOCH]), before[first : last - 1], after))
        self.handles[place + position + 1 : place + members + 1] = self.handles[place + position : place + members]
        self.handles[place + position] = handle
        open_run(self.circles, self.rings, circle, value, position)
        self.circle_of = _roomy(self.circle_of, handle + 1)
        self.circle_of[handle] = circle

    def _move_ring(self, row: Any) -> None:
        """Give a circle twice the room for runs."""
        room, ring = max(1, 2 * int(row[ROOM])), self._used_runs
        self._used_runs += room
        self.rings = _roomy(self.rings, self._used_runs)
        old = row[RING] + (row[HEAD] + np.arange(row[RUNS])) % max(1, row[ROOM])
        self.rings[ring : ring + len(old)] = self.rings[old]
        row[[RING, ROOM, HEAD]] = ring, room, 0

    def _move_members(self, row: Any) -> None:
        """Give a circle twice the room for members."""
        beds, place, members = max(1, 2 * int(row[BEDS])), self._used_members, int(row[MEMBERS])
        self._used_members += beds
        self.handles = _roomy(self.handles, self._used_members)
        self.labels = _roomy(self.labels, self._used_members)
        for array in (self.handles, self.labels):
            array[place : place + members] = array[row[PLACE] : row[PLACE] + members]
        row[[PLACE, BEDS]] = place, beds

    def _lay_out(self, tree: int, slots: int, order: Longs) -> None:
        """Give a tree new slots, and lay its leaves out there."""
        self._plant(tree, slots)
        height = int(self.trees[tree, HEIGHT])
        lay_out(
            self.nodes, self.weights, self.circles, self.radii, self.rings, self.trees, tree, 0, slots, height, order
        )

    def _plant(self, tree: int, slots: int) -> None:
        total, height = nodes_for(slots)
        self.trees[tree, [NODES, SLOTS, HEIGHT]] = self._used_nodes, slots, height
        self._used_nodes += total
        self.nodes, self.weights = _roomy(self.nodes, self._used_nodes), _roomy(self.weights, self._used_nodes)
        # A run and what follows it take two slots, and a part of a circle one.
        self.runs = _roomy(self.runs, slots // 2 + 2)
        self.arcs = _roomy(self.arcs, slots)

    def _make_room(self, members: int) -> None:
        """Make room for the circles and members that are counted already, and as many runs as new members."""
        self.circles = _roomy(self.circles, self._used_circles)
        self.radii = _roomy(self.radii, self._used_circles)
        self.handles = _roomy(self.handles, self._used_members)
        self.labels = _roomy(self.labels, self._used_members)
        self.rings = _roomy(self.rings, self._used_runs + members)


def _roomy(array: Any, length: int) -> Any:
    """Return an array with at least so many rows and the same beginning."""
    if length <= len(array):
        return array
    larger = np.empty((max(length, 2 * len(array), 4), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
