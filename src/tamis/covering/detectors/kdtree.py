"""Shen's K-d tree of boxes as points (specs/000 §4), made dynamic: trees of falling size, and newcomers behind them."""

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from tamis.covering.detectors.corners import enter, roomy
from tamis.covering.detectors.detector import NOBODY, Detector, Longs, register
from tamis.covering.detectors.orthants import NODE_COLUMNS, plant, search

#: So many newcomers become a tree: each costs a comparison on every query.
NEWCOMERS: Final = 64


class _Start(NamedTuple):
    """Where a tree begins."""

    row: int
    node: int


@register("kdtree")
class KdTree(Detector):
    """Rows of points: those of the first tree, of the second, and so on; behind them those of the newcomers.

    [ours] When there are too many newcomers, they are planted, together with those trees before them that have no more
    rows than all behind. So a point is planted again about as often as the number of points doubles. A box that is
    removed from a tree leaves a gap; when more than half of the rows are gaps, all is planted anew.
    """

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self._points: Longs = np.empty((0, 2 * dimensions), np.int64)
        self._handles: Longs = np.empty(0, np.int64)
        #: By handle: its row, or -1.
        self._rows: Longs = np.full(16, -1, np.int64)
        #: Trees one behind the other: each ends with the node where the next begins.
        self._corners: Longs = np.empty((0, 2 * dimensions), np.int64)
        self._nodes: Longs = np.empty((0, NODE_COLUMNS), np.int64)
        self._trees: list[_Start] = []
        self._planted = self._held = self._gaps = 0
        #: Where the answer to the usual question, for one coverer, is written.
        self._out: Longs = np.empty(1, np.int64)

    def add(self, handle: int, low: Longs, high: Longs) -> None:
        row = self._held
        if row == len(self._handles):
            self._points = roomy(self._points, row + 1)
            self._handles = roomy(self._handles, row + 1)
        if handle >= len(self._rows):
            longer = np.full(2 * handle, -1, np.int64)
            longer[: len(self._rows)] = self._rows
            self._rows = longer
        enter(low, high, self._points, row)
        self._handles[row] = handle
        self._rows[handle] = row
        self._held += 1

    def remove(self, handle: int) -> None:
        row = int(self._rows[handle])
        self._rows[handle] = -1
        if row < self._planted:
            self._handles[row] = NOBODY
            self._gaps += 1
            return
        self._held -= 1
        if row < self._held:
            self._points[row] = self._points[self._held]
            self._handles[row] = self._handles[self._held]
            self._rows[self._handles[row]] = row

    def coverers(self, low: Longs, high: Longs, limit: int, besides: int = NOBODY) -> list[int]:
        if 2 * self._gaps > self._planted:
            self._plant(0)
        elif self._held - self._planted > NEWCOMERS:
            tree = len(self._trees)
            while tree and self._rows_of(tree - 1) <= self._held - self._trees[tree - 1].row - self._rows_of(tree - 1):
                tree -= 1
            self._plant(tree)
        room = min(limit, self._held)
        out = self._out if room == len(self._out) else np.empty(room, np.int64)
        found, touched = search(
            self._corners, self._nodes, self._points, self._handles, self._planted, self._held, low, high, besides, out
        )
        self.calls += 1
        self.touched += touched
        return list(out[:found].tolist()) if found else []

    def _rows_of(self, tree: int) -> int:
        end = self._trees[tree + 1].row if tree + 1 < len(self._trees) else self._planted
        return end - self._trees[tree].row

    def _plant(self, tree: int) -> None:
        """Make one tree of a tree, of all behind it and of the newcomers."""
        start = self._trees[tree] if tree < len(self._trees) else _Start(self._planted, len(self._nodes))
        living = start.row + np.flatnonzero(self._handles[start.row : self._held] >= 0)
        points = self._points[living]
        corners, nodes, order = plant(points, start.row, start.node)
        self._corners = np.concatenate((self._corners[: start.node], corners))
        self._nodes = np.concatenate((self._nodes[: start.node], nodes))
        handles = self._handles[living[order]]
        self._planted = self._held = start.row + len(living)
        self._points[start.row : self._held] = points[order]
        self._handles[start.row : self._held] = handles
        self._rows[handles] = np.arange(start.row, self._held)
        self._trees[tree:] = [start] if len(living) else []
        self._gaps = int((self._handles[: start.row] < 0).sum())

    def __len__(self) -> int:
        return self._held - self._gaps

    def check_invariants(self) -> None:
        owners = self._handles[: self._held]
        living = np.flatnonzero(owners >= 0)
        assert (self._rows[owners[living]] == living).all()
        assert (self._rows >= 0).sum() == len(living) == len(self)
        assert self._gaps == (owners < 0).sum() == (owners[: self._planted] < 0).sum()
        assert bool(self._trees) is (self._planted > 0)
        for start, end in pairwise([*self._trees, _Start(self._planted, len(self._nodes))]):
            assert self._nodes[start.node].tolist() == [start.row, end.row, end.node]
        for node, (begin, behind, skip) in enumerate(self._nodes.tolist()):
            assert (self._corners[node] == self._points[begin:behind].max(axis=0)).all()
            if skip > node + 1:
                second = int(self._nodes[node + 1, 2])
                assert self._nodes[node + 1, :2].tolist() == [begin, self._nodes[second, 0]]
                assert self._nodes[second, 1:].tolist() == [behind, skip]
