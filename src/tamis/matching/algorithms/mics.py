"""MICS as matching engines (specs/001 F11): a stab in runs on Hilbert curves, then the exact test.

Subscriptions that constrain the same few attributes are a group, whose attributes are put on a curve in rank
space; a box becomes a few runs on it (`curvegroups`). The runs of all groups lie one behind the other in one stabbing
index. An event stabs once for each group whose attributes it has. `mics-ranges` leaves the exact test to the index.
"""

from collections.abc import Callable
from math import isqrt
from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.geometry.descent import descend
from tamis.geometry.regions import FIELDS
from tamis.geometry.stabbing import Stabbing, stab
from tamis.matching.algorithms.curvegroups import BITS, KEY_BITS, MOST_DIMENSIONS, Grouping, Groups
from tamis.matching.engine import Capabilities, Rows, register
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates, enter, leave, meets_all
from tamis.matching.ranks.layout import layout
from tamis.matching.ranks.line import Split
from tamis.matching.ranks.lists import Bytes, Ints, Longs, View, grown
from tamis.matching.ranks.selectivity import most_selective, sort_by_selectivity

#: Newcomers that fit into no group wait outside until they are more than this times the square root of those inside:
#: each costs a test on every event.
NEWCOMERS: Final = 4


@register(
    "mics",
    Capabilities(
        arbitrary=False,
        exact=True,
        dynamic=True,
        batch=True,
        summary="runs on Hilbert curves of a few attributes in a stabbing index, verified (MICS; specs/001 F11)",
    ),
)
class Mics(ConjunctiveEngine):
    """Subscriptions are runs of *slots* in a stabbing index; fast where they are narrow in a few common attributes.

    Groups and curves speak of the ranks at the time they were made. Each leaf remembers the rank it had then; a leaf
    split off later has that of the leaf it was part of, so what comes later is put on the same curves, a little too
    wide. A removed subscription leaves its runs behind. When more than half of the runs are such, or there are twice as
    many subscriptions, or many wait that fit into no group, everything is grouped anew before the next event.
    """

    #: Whether answers are tested.
    verified = True

    def __init__(self) -> None:
        super().__init__()
        self._group(np.empty(0, np.int32))

    def _group(self, positions: Ints) -> None:
        # What is likely to fail is tested first.
        sort_by_selectivity(self.space, positions, self.held.view(), layout(self.space))
        self._grouping = Grouping(self.space, self.held.view(), positions)
        self._groups: Groups = self._grouping.view(self.space.dimensions)
        self._stabbing = Stabbing()
        self._stabbing.add_many(*self._grouping.runs())
        #: By leaf: the rank it had when the groups were made.
        self._rank_then: Ints = self.space.rank.copy()
        self._grouped = len(positions)
        #: By slot: the subscription, -1 if it was removed.
        self._positions: Ints = positions.copy()
        #: By slot: the box of ranks then, and whether it is all that is asked for.
        self._boxes: Ints = self._grouping.boxes
        self._whole: Bytes = self._grouping.whole
        self._slots = len(positions)
        self._dead = 0
        self._newcomers: Ints = np.zeros(1, np.int32)
        self._waiting = 0
        #: By position: its slot, or ~ its place among the newcomers.
        self._where: Ints = np.zeros(self.top, np.int32)
        self._where[positions] = np.arange(len(positions), dtype=np.int32)

    def insert(self, position: int, predicates: list[int]) -> None:
        self._where = grown(self._where, position + 1)
        if self.stored == 1:
            # While nothing was stored, leaves were split without notice.
            self._group(np.empty(0, np.int32))
            self._where = grown(self._where, position + 1)
        group = self._fitting(predicates)
        if group is None:
            self._wait(position)
            return
        by_dimension = {int(self.space.dimension[each]): each for each in predicates}
        low, high = [], []
        for dimension in self._grouping.dimensions[group, : self._grouping.axes[group]].tolist():
            bounds = self.space.bounds[by_dimension[dimension]]
            last = self.space.line(dimension).leaves()[int(self.space.rank[bounds[-1]]) - 1]
            low.append(int(self._rank_then[bounds[0]]))
            high.append(int(self._rank_then[last]))
        self._stabbing.add_many(*self._grouping.place(self._slots, group, low, high))
        self._positions = grown(self._positions, self._slots + 1)
        self._positions[self._slots] = position
        self._whole = grown(self._whole, self._slots + 1)
        if self._slots == len(self._boxes):
            self._boxes = np.concatenate((self._boxes, np.zeros_like(self._boxes)))
        self._boxes[self._slots, : len(low)] = np.stack((low, high), axis=1)
        self._where[position] = self._slots
        self._slots += 1

    def insert_many(self, positions: Ints) -> None:
        if self.stored == len(positions):
            self._group(np.empty(0, np.int32))
        if len(positions) > self._grouped:
            # All of them are put on new curves before the next event.
            self._where = grown(self._where, self.top)
            for position in positions.tolist():
                self._wait(position)
        else:
            super().insert_many(positions)

    def _fitting(self, predicates: list[int]) -> int | None:
        """Return the group that a subscription belongs to, if there is one."""
        grouping, space = self._grouping, self.space
        then = len(grouping.lines)
        known = []
        for each in most_selective(space, predicates, len(predicates)):
            dimension = int(space.dimension[each])
            # A dimension may have got another attribute since.
            if dimension < then and grouping.lines[dimension] is space.lines[dimension]:
                known.append(dimension)
        best = sorted(known, key=grouping.order.__getitem__)[:MOST_DIMENSIONS]
        group = grouping.known.get(tuple(best))
        return grouping.known.get(tuple(known[:1])) if group is None else group

    def _wait(self, position: int) -> None:
        self._newcomers = grown(self._newcomers, self._waiting + 1)
        self._newcomers[self._waiting] = position
        self._where[position] = ~self._waiting
        self._waiting += 1

    def delete(self, position: int, predicates: list[int]) -> None:  # noqa: ARG002 - its place is known
        where = int(self._where[position])
        if where >= 0:
            self._positions[where] = -1
            self._dead += 1
        else:
            self._waiting -= 1
            last = self._newcomers[self._waiting]
            self._newcomers[~where] = last
            self._where[last] = where

    def split(self, split: Split) -> None:
        self._rank_then = grown(self._rank_then, split.new + 1)
        self._rank_then[split.new] = self._rank_then[split.old]

    def match_by(self, search: Callable[..., int], events: Encoded) -> Rows:
        # Before the search, which several threads run.
        if (
            2 * self._dead > self._slots
            or self._slots - self._dead > 2 * self._grouped
            or self._waiting > NEWCOMERS * isqrt(self._slots)
        ):
            inside = self._positions[: self._slots]
            self._group(np.concatenate((inside[inside >= 0], self._newcomers[: self._waiting])))
        self._rank_then = grown(self._rank_then, self.space.leaves)
        self._groups = self._grouping.view(self.space.dimensions)
        return super().match_by(search, events)

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        return _search(
            first,
            last,
            events,
            self._groups,
            self._rank_then,
            self._stabbing.leaves.cells,
            self._stabbing.leaves.directory,
            self._positions,
            self._boxes,
            self._whole,
            self._newcomers[: self._waiting],
            self.held.view(),
            self.predicates(),
            self.ranks(),
            self.scratch("then", self.space.dimensions),
            self.scratch("found", self._slots),
            self.verified,
            self.top,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        by_slot = self._positions.nbytes + self._boxes.nbytes + self._whole.nbytes
        others = self._rank_then.nbytes + self._newcomers.nbytes + self._where.nbytes
        return by_slot + others + self._stabbing.bytes + self._grouping.bytes

    def check_invariants(self) -> None:
        super().check_invariants()
        assert not self.scratch("then", self.space.dimensions).any()
        self._stabbing.check_invariants()
        inside = self._positions[: self._slots]
        assert self._dead == (inside < 0).sum()
        assert self.stored == self._slots - self._dead + self._waiting
        for slot, position in enumerate(inside.tolist()):
            assert position < 0 or self._where[position] == slot
        for place, position in enumerate(self._newcomers[: self._waiting].tolist()):
            assert self._where[position] == ~place


@register(
    "mics-ranges",
    Capabilities(
        arbitrary=False,
        exact=False,
        dynamic=True,
        batch=True,
        summary="runs on Hilbert curves of a few attributes in a stabbing index, as they are (MICS; specs/001 F10)",
    ),
)
class MicsRanges(Mics):
    """Every subscription with a run at the event's position on a curve: all that match, and some that do not."""

    verified = False


@kernel
def _position(group: int, groups: Groups, ranks: Ints, then: Ints, point: Longs, waiting: Longs, keys: Longs) -> int:
    """Return the position of an event on the curve of a group, -1 if it lacks an attribute or fell off the curve."""
    count = groups.axes[group]
    bits = BITS[count]
    for axis in range(count):
        dimension = groups.dimensions[group, axis]
        cell = then[dimension] >> groups.shift[group, axis]
        # An attribute that took over the number of another one has ranks that mean nothing here.
        if ranks[dimension] == 0 or cell >> bits:
            return -1
        point[axis] = cell
    if count == 1:
        return int((group << KEY_BITS) + point[0])
    # The only run of one cell is its position.
    descend(point[:count], point[:count], bits, True, waiting, keys, keys, 1)
    return int((group << KEY_BITS) + keys[0])


@kernel
def _alive(positions: Ints, found: Ints, candidates: int) -> int:
    """Keep the candidates that were not removed; return how many there are."""
    kept = 0
    for number in range(candidates):
        slot = found[number]
        found[kept] = slot
        kept += positions[slot] >= 0
    return kept


@kernel
def _inside(group: int, groups: Groups, then: Ints, boxes: Ints, found: Ints, candidates: int, work: Longs) -> int:
    """Keep the candidates of a group whose boxes hold the event; return how many there are."""
    for axis in range(groups.axes[group]):
        rank, kept = then[groups.dimensions[group, axis]], 0
        work[TESTS] += candidates
        for number in range(candidates):
            slot = found[number]
            found[kept] = slot
            kept += boxes[slot, axis, 0] <= rank <= boxes[slot, axis, 1]
        candidates = kept
    return candidates


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    groups: Groups,
    rank_then: Ints,
    cells: Longs,
    directory: Longs,
    positions: Ints,
    boxes: Ints,
    whole: Bytes,
    newcomers: Ints,
    held: View,
    predicates: Predicates,
    ranks: Ints,
    then: Ints,
    found: Ints,
    verified: bool,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    """An event's ranks are in `ranks`, those it would have had when the groups were made in `then`."""
    start, size, data = groups.by_dimension
    point, waiting, keys = np.empty(3, np.int64), np.empty((KEY_BITS, FIELDS), np.int64), np.empty(1, np.int64)
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        enter(row, events, predicates.rank, ranks)
        enter(row, events, rank_then, then)
        for dimension in events.dimensions[events.offsets[row] : events.offsets[row + 1]]:
            for group in data[start[dimension] : start[dimension] + size[dimension]]:
                at = _position(group, groups, ranks, then, point, waiting, keys)
                if at < 0:
                    continue
                candidates = _alive(positions, found, stab(cells, directory, at, at, found, 0))
                work[CANDIDATES] += candidates
                if verified:
                    candidates = _inside(group, groups, then, boxes, found, candidates, work)
                for slot in found[:candidates]:
                    position = positions[slot]
                    if not verified or whole[slot] or meets_all(position, -1, ranks, held, predicates, work):
                        out[used] = position
                        used += 1
        for position in newcomers:
            work[CANDIDATES] += 1
            if not verified or meets_all(position, -1, ranks, held, predicates, work):
                out[used] = position
                used += 1
        leave(row, events, ranks)
        leave(row, events, then)
        ends[row] = used
    return last
