"""The trees of the seed as structures: on radii (F5), on labels (F7, F8), and in two levels (F10).

They are one implementation, the two-level tree (`tree`, `circle`): with one centre for each radius it is the tree on
radii, with one radius it is the circle of labels.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tamis.notification.affected import AffectedRange, Arc, Relabelling, Shift
from tamis.notification.arena import Arena, Sharing, Told
from tamis.notification.checks import check_arena
from tamis.notification.circle import EPOCH, PLACE, Doubles, Longs
from tamis.notification.labels import TOP
from tamis.notification.rows import Rows, edges
from tamis.notification.structure import Case, Row, Structure, register
from tamis.notification.tree import FREE, LEAVES, NODES, SERIAL, SLOTS

_NOTHING = Told(0, 0, 0, 0)


@register(
    "two-level",
    Case(
        radii="all",
        ranges=True,
        loose=True,
        summary="an augmented tree on radii over circles of labels (B²-tree(r,lid), specs/003 F10, seed §5)",
    ),
)
class TwoLevel(Structure):
    """A tree on radii, in which each radius has a circle of labels.

    Subscriptions that have two radii, or a radius relative to their centre, keep no circular order: each is a leaf of
    its own there, and its label only tells it from others with the same radii.
    """

    #: Whether those with the same two radii have a circle nevertheless.
    circular_loose: ClassVar[bool] = False

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type] # the same ones
        self.arena = Arena()
        self._tree = self.arena.new_tree(self.code)
        self._told = _NOTHING

    @property
    def serial(self) -> int:
        return int(self.arena.trees[self._tree, SERIAL])

    @serial.setter
    def serial(self, serial: int) -> None:
        if hasattr(self, "arena"):
            self.arena.trees[self._tree, SERIAL] = serial

    def affected(self) -> Longs:
        return self.arena.told(self._tree, self._told)

    def ranges(self) -> list[AffectedRange]:
        arcs = self._arcs()
        found = []
        for first, last in self.arena.runs[: self._told.ranges].tolist():
            low, high = self._live(first, 1), self._live(last, -1)
            if self._sharing() is Sharing.ALONE:
                inside = self._cut_off(low, high)
            else:
                inside = tuple(arc for slot, arc in arcs if first <= slot <= last)
            (low_may, low_must), (may, must) = self._radii(low), self._radii(high)
            found.append(AffectedRange(self.law, low_may, may, low_must, must, inside, self.loose))
        return found

    def radius_ranges(self) -> Doubles:
        """Return the least and greatest radius of each range, as an array: quicker than `ranges`, without arcs."""
        runs = self.arena.runs[: self._told.ranges]
        out = np.empty((len(runs), 2))
        edges(self.arena.nodes, int(self.arena.trees[self._tree, NODES]), runs, out)
        return out

    def row(self, handle: int) -> Row:
        _, may, must, label, epoch, centre = self.arena.place(handle)
        return Row(handle, may, must, centre, label, epoch)

    def rows(self) -> list[Row]:
        found = self.arena.rows(np.array([self._tree]))
        columns = (found.handles, found.mays, found.musts, found.centres, found.labels, found.epochs)
        return [Row(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]

    def _restore(self, rows: Sequence[Row]) -> None:
        ordered = sorted(rows, key=lambda row: (row.may, row.must, row.label))
        handles, mays, musts, centres, labels, epochs = map(list, zip(*ordered, strict=True)) if ordered else [[]] * 6
        trees, handle, label, epoch = (
            np.array(each, np.int64) for each in ([self._tree] * len(ordered), handles, labels, epochs)
        )
        may, must, centre = (np.array(each, np.float64) for each in (mays, musts, centres))
        self.arena.load(Rows(trees, handle, label, epoch, may, must, centre), self._sharing(), relabel=False)

    def relabellings(self) -> list[Relabelling]:
        found = [self._relabelling(*each) for each in self.arena.relabelled or ()]
        self.arena.relabelled = []
        return found

    def __len__(self) -> int:
        return self.arena.weight(self._tree) + len(self._pending)

    def check_invariants(self) -> None:
        super().check_invariants()
        check_arena(self.arena)

    def _sharing(self) -> Sharing:
        if self.relaxed:
            return Sharing.RELAXED
        alone = self.law == "relative" or (self.loose and not self.circular_loose)
        return Sharing.ALONE if alone else Sharing.CIRCLE

    def _insert(self, handles: Longs, mays: Doubles, musts: Doubles, value: float) -> list[float]:
        sharing = self._sharing()
        if self.arena.weight(self._tree) or len(handles) == 1:
            each = zip(handles.tolist(), mays.tolist(), musts.tolist(), strict=True)
            return [self.arena.add(self._tree, *one, value, sharing) for one in each]
        order = np.lexsort((musts, mays))
        numbers = np.zeros(len(order), np.int64)
        centres = np.full(len(order), value)
        rows = Rows(numbers + self._tree, handles[order], numbers, numbers, mays[order], musts[order], centres)
        self.arena.load(rows, sharing, relabel=True)
        return [value] * len(handles)

    def _delete(self, handle: int) -> None:
        self.arena.remove(handle)

    def _move(self, value: float | None) -> None:
        self._told = _NOTHING
        if value is not None:
            self._told = self.arena.update(self._tree, value, False, self.loose, self.trim)
            self.range_count, _, self.affected_count, self.visits = self._told

    def _first(self) -> None:
        assert self.value is not None
        self._told = self.arena.update(self._tree, self.value, True, self.loose, self.trim)
        self.range_count, _, self.affected_count, self.visits = self._told

    # --- ranges -------------------------------------------------------------------------------------

    def _arcs(self) -> list[tuple[int, Arc]]:
        """Return the slot and the arc of each circle that was affected in part."""
        found = []
        for circle, start, stop in self.arena.arcs[: self._told.arcs].tolist():
            row = self.arena.circles[circle]
            may, must = self.arena.radii[circle].tolist()
            first, last = (int(self.arena.labels[row[PLACE] + position]) for position in (start, stop))
            found.append((int(row[1]), Arc(may, must, first, last, int(row[EPOCH]))))
        return found

    def _circle(self, slot: int) -> int:
        return int(self.arena.nodes[self.arena.trees[self._tree, NODES] + slot, LEAVES])

    def _radii(self, slot: int) -> tuple[float, float]:
        may, must = self.arena.radii[self._circle(slot)].tolist()
        return may, must

    def _live(self, slot: int, step: int) -> int:
        """Return the nearest slot with a leaf, from a slot on; -1 if there is none."""
        slots = int(self.arena.trees[self._tree, SLOTS])
        while 0 <= slot < slots:
            if self._circle(slot) != FREE:
                return slot
            slot += step
        return -1

    def _cut_off(self, low: int, high: int) -> tuple[Arc, ...]:
        """Return arcs for the radii at the ends of a range, where others with the same radii are outside of it."""
        before, after = self._live(low - 1, -1), self._live(high + 1, 1)
        low_cut = before >= 0 and self._radii(before) == self._radii(low)
        high_cut = after >= 0 and self._radii(after) == self._radii(high)
        first, last = self._label(low), self._label(high) + 1
        if self._radii(low) == self._radii(high):
            return (Arc(*self._radii(low), first, last, 0),) if low_cut or high_cut else ()
        begin = (Arc(*self._radii(low), first, TOP, 0),) if low_cut else ()
        return begin + ((Arc(*self._radii(high), 0, last, 0),) if high_cut else ())

    def _label(self, slot: int) -> int:
        return int(self.arena.labels[self.arena.circles[self._circle(slot), PLACE]])

    def _relabelling(self, may: float, must: float, epoch: int, before: Longs, after: Longs) -> Relabelling:
        by = after - before
        ends = np.append(np.flatnonzero(np.diff(by)), len(by) - 1)
        begins = np.append(0, ends[:-1] + 1)
        shifts = (Shift(int(before[a]), int(before[b]), int(by[a])) for a, b in zip(begins, ends, strict=True))
        return Relabelling(self.law, may, must, epoch, tuple(each for each in shifts if each.by), self.loose)


@register(
    "radius-tree",
    Case(
        radii="different",
        ranges=True,
        loose=True,
        summary="an augmented tree on radii, in absolute form (B^A-tree(r), specs/003 F5, seed §3.2)",
    ),
)
class RadiusTree(TwoLevel):
    """A tree on radii with one centre for each."""


@register(
    "label-tree",
    Case(
        radii="same",
        ranges=True,
        loose=True,
        laws=("absolute", "factor"),
        summary="a circle of labels for one radius (B^W-tree(lid), specs/003 F6 to F8, seed §4.3)",
    ),
)
class LabelTree(TwoLevel):
    """One radius, or one pair of radii, with a circle of labels."""

    circular_loose = True
