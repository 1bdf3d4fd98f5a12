"""A share of the items of a watch set: their trees in one arena, worked on by one thread at a time.

An item has a tree for each *kind* of radius that somebody watches it with: for each law, those with one radius and
those with two.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.notification.arena import Arena, Sharing
from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import LAW_COUNT, RELATIVE
from tamis.notification.rows import Rows, expand, update_tree
from tamis.notification.tree import HEIGHT, NODES, SLOTS, level_base

Handles = npt.NDArray[np.int32]

#: Kinds of radii: the law, and `LAW_COUNT` more for those with two radii.
KINDS: Final = 2 * LAW_COUNT
#: As a tree: none.
NO_TREE: Final = -1
#: What became of a row: taken, or refused because its value is no finite number, or because it is not above 0 where
#: somebody watches with a relative radius or a factor.
TAKEN: Final = 0
NOT_FINITE: Final = 1
NOT_POSITIVE: Final = 2
#: Handles that are written at a time, at least.
CHUNK: Final = 1 << 20


def kind_of(law: int, loose: bool) -> int:
    """Return the number of a kind."""
    return law + LAW_COUNT * loose


class Shard:
    """Items by number, with their values and trees."""

    def __init__(self, relaxed: bool, trim: bool) -> None:
        self.relaxed, self.trim = relaxed, trim
        self.arena = Arena()
        #: By item.
        self.values: Doubles = np.empty(0)
        self.trees: Longs = np.empty((0, KINDS), np.int64)

    def make_room(self, items: int) -> None:
        """Have so many items; new ones have no value."""
        more = items - len(self.values)
        if more > 0:
            more = max(more, len(self.values))
            self.values = np.append(self.values, np.full(more, np.nan))
            self.trees = np.append(self.trees, np.full((more, KINDS), NO_TREE), axis=0)

    def sharing(self, kind: int) -> Sharing:
        """Return what a new subscription does with a radius that is there already."""
        if self.relaxed:
            return Sharing.RELAXED
        alone = kind % LAW_COUNT == RELATIVE or kind >= LAW_COUNT
        return Sharing.ALONE if alone else Sharing.CIRCLE

    def tree(self, item: int, kind: int) -> int:
        """Return a tree of an item, a new one if need be."""
        tree = int(self.trees[item, kind])
        if tree == NO_TREE:
            tree = self.trees[item, kind] = self.arena.new_tree(kind % LAW_COUNT)
        return tree

    def add(self, item: int, kind: int, handle: int, may: float, must: float) -> float | None:
        """Add a subscription; return what it is told, None if there is no value yet."""
        value = float(self.values[item])
        known = value == value
        # Until there is a value, any centre does: the first value is for everybody.
        told = self.arena.add(self.tree(item, kind), handle, may, must, value if known else 1.0, self.sharing(kind))
        return told if known else None

    def add_many(self, kind: int, items: Longs, handles: Longs, mays: Doubles, musts: Doubles) -> None:
        """Add many subscriptions of one kind: at once where nobody watches yet."""
        known, inverse = np.unique(items, return_inverse=True)
        trees = np.array([self.tree(item, kind) for item in known.tolist()], np.int64)
        empty = np.array([self.arena.weight(tree) == 0 for tree in trees.tolist()], np.bool_)
        fresh = empty[inverse]
        each = zip(items[~fresh], handles[~fresh], mays[~fresh].tolist(), musts[~fresh].tolist(), strict=True)
        for item, handle, may, must in each:
            self.add(int(item), kind, int(handle), may, must)
        trees, values = trees[inverse[fresh]], self.values[items[fresh]]
        mays, musts, handles = mays[fresh], musts[fresh], handles[fresh]
        order = np.lexsort((musts, mays, trees))
        none = np.zeros(len(order), np.int64)
        centres = np.where(np.isnan(values), 1.0, values)[order]
        rows = Rows(trees[order], handles[order], none, none, mays[order], musts[order], centres)
        self.arena.load(rows, self.sharing(kind), relabel=True)

    def update(self, items: Longs, values: Doubles) -> tuple[Longs, list[Handles], Longs]:
        """Take values of items in order; return how many each affects, their handles, and what became of the row.

        The handles are those of one row after another, in several pieces.
        """
        counts, states = np.zeros(len(items), np.int64), np.zeros(len(items), np.int64)
        pieces: list[Handles] = []
        done, size = 0, min(CHUNK, 16 * len(items) + 64)
        arena = self.arena
        while done < len(items):
            out = np.empty(size, np.int32)
            now, filled = update_rows(
                arena.nodes,
                arena.weights,
                arena.circles,
                arena.rings,
                arena.handles,
                arena.trees,
                arena.runs,
                arena.arcs,
                self.values,
                self.trees,
                items,
                values,
                done,
                self.trim,
                counts,
                states,
                out,
            )
            pieces.append(out[:filled])
            # A row whose item has more subscriptions than there was room for is tried with more.
            size = CHUNK if now > done else 2 * max(size, CHUNK // 2)
            done = now
        return counts, pieces, states

    def state(self) -> tuple[Longs, Doubles]:
        """Return all subscriptions as rows of `item, kind, handle, label, epoch` and of `may, must, centre`."""
        items, kinds = np.nonzero(self.trees != NO_TREE)
        trees = self.trees[items, kinds]
        rows = self.arena.rows(trees)
        counts = [self.arena.weight(tree) for tree in trees.tolist()]
        numbers = (np.repeat(items, counts), np.repeat(kinds, counts), rows.handles, rows.labels, rows.epochs)
        return np.column_stack(numbers), np.column_stack((rows.mays, rows.musts, rows.centres))

    def load(self, numbers: Longs, reals: Doubles) -> None:
        """Take subscriptions that `state` gave, while there are none."""
        for kind in range(KINDS):
            chosen = numbers[:, 1] == kind
            items, handles, labels, epochs = numbers[chosen][:, [0, 2, 3, 4]].T.copy()
            mays, musts, centres = reals[chosen].T.copy()
            known, inverse = np.unique(items, return_inverse=True)
            trees = np.array([self.tree(item, kind) for item in known.tolist()], np.int64)[inverse]
            order = np.lexsort((labels, musts, mays, trees))
            columns: Any = (each[order] for each in (trees, handles, labels, epochs, mays, musts, centres))
            self.arena.load(Rows(*columns), self.sharing(kind), relabel=False)


@kernel
def update_rows(
    nodes: Doubles,
    weights: Longs,
    circles: Longs,
    rings: Doubles,
    handles: Longs,
    trees: Longs,
    runs: Longs,
    arcs: Longs,
    values: Doubles,
    item_trees: Longs,
    items: Longs,
    new_values: Doubles,
    done: int,
    trim: bool,
    counts: Longs,
    states: Longs,
    out: Handles,
) -> tuple[int, int]:
    """Take rows from `done` on, and write down whom each affects.

    Ends early at a row that might affect more than there is room for. Returns how many rows are done, and how many
    handles were written.
    """
    at = 0
    for row in range(done, len(items)):
        item, value = items[row], new_values[row]
        if not np.isfinite(value):
            states[row] = NOT_FINITE
            continue
        room, measured = 0, 0
        for kind in range(KINDS):
            tree = item_trees[item, kind]
            if tree != NO_TREE:
                weight = weights[trees[tree, NODES] + level_base(trees[tree, SLOTS], trees[tree, HEIGHT])]
                room += weight
                if kind % LAW_COUNT > 0:
                    measured += weight
        if measured > 0 and value <= 0:
            states[row] = NOT_POSITIVE
            continue
        if room > len(out) - at:
            return row, at
        if value != values[item]:
            first = np.isnan(values[item])
            begin = at
            for kind in range(KINDS):
                tree = item_trees[item, kind]
                if tree != NO_TREE:
                    found, parts, _, _ = update_tree(
                        nodes,
                        weights,
                        circles,
                        rings,
                        trees,
                        tree,
                        value,
                        first,
                        kind >= LAW_COUNT,
                        trim,
                        runs,
                        arcs,
                    )
                    at = expand(nodes, circles, handles, trees, tree, runs, found, arcs, parts, out, at)
            counts[row] = at - begin
            values[item] = value
    return len(items), at


@kernel
def scatter(rows: Longs, counts: Longs, row: int, handles: Handles, offsets: Longs, out: Handles) -> int:
    """Write a piece of the handles of a shard's rows where they belong among those of all rows; return the next row."""
    at = 0
    while row < len(rows) and (at < len(handles) or counts[row] == 0):
        begin = offsets[rows[row]]
        for step in range(counts[row]):
            out[begin + step] = handles[at + step]
        at += counts[row]
        row += 1
    return row
