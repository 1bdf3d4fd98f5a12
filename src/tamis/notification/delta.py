"""The augmented tree on radii in the form of the seed: drifts and reset bits, on integer ticks (specs/003 F5).

A node keeps how far the value may fall and rise until somebody beneath it is affected (`L_MIN`, `R_MIN`) and until
everybody is (`L_MAX`, `R_MAX`), as of the last time that it was looked at; what happened since is in its ancestors, as
a drift and a reset bit. Sums of drifts are exact on integers alone, so values and radii are whole numbers of ticks.
Repairs to Algorithm 1: specs/003 F5.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.notification.affected import AffectedRange
from tamis.notification.circle import Doubles, Longs
from tamis.notification.structure import Case, Row, Structure, register
from tamis.notification.tree import FAN, LEVELS, level_base, nodes_for

L_MIN: Final = 0
L_MAX: Final = 1
R_MIN: Final = 2
R_MAX: Final = 3
LEAST: Final = 4
GREATEST: Final = 5
DRIFT: Final = 6
RESET: Final = 7
#: Values and radii stay below this, so that no sum overflows.
MOST_TICKS: Final = 1 << 60


@register(
    "delta-tree",
    Case(
        radii="different",
        ranges=True,
        loose=False,
        laws=("absolute",),
        summary="an augmented tree on radii with drifts, on integer ticks (B^A-tree(r), specs/003 F5, seed §3.2)",
    ),
)
class DeltaTree(Structure):
    """A complete tree over the radii in order; radii that came or went since the last event are put in at the next."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type] # the same ones
        #: By leaf: its radius, and the handles.
        self._radii: Longs = np.empty(0, np.int64)
        self._members: dict[int, list[int]] = {}
        self._radius_of: dict[int, int] = {}
        self._nodes: Longs = np.empty((0, 8), np.int64)
        #: Centres of radii that are not in the tree yet; whether the tree is to be made anew.
        self._new: dict[int, int] = {}
        self._stale = False
        self._runs: Longs = np.empty((1, 2), np.int64)

    def affected(self) -> Longs:
        runs = self._runs[: self.range_count].tolist()
        radii = [radius for first, last in runs for radius in self._radii[first : last + 1].tolist()]
        return np.array([handle for radius in radii for handle in self._members[radius]], np.int64)

    def ranges(self) -> list[AffectedRange]:
        ends = self._radii[self._runs[: self.range_count]].astype(np.float64).tolist()
        return [AffectedRange(self.law, *pair, *pair) for pair in ends]

    def row(self, handle: int) -> Row:
        radius = self._radius_of[handle]
        return Row(handle, float(radius), float(radius), float(self._centres()[radius]), 0, 0)

    def rows(self) -> list[Row]:
        centres = self._centres()
        return [
            Row(handle, float(radius), float(radius), float(centres[radius]), 0, 0)
            for radius in sorted(self._members)
            for handle in self._members[radius]
        ]

    def __len__(self) -> int:
        return len(self._radius_of) + len(self._pending)

    def check_value(self, value: float) -> None:
        _ticks(value)

    def _check_radii(self, mays: Doubles, musts: Doubles) -> None:
        super()._check_radii(mays, musts)
        for radius in mays.tolist():
            _ticks(radius)

    def _restore(self, rows: Sequence[Row]) -> None:
        self._enter([(row.handle, _ticks(row.may), _ticks(row.centre)) for row in rows])

    def _insert(self, handles: Longs, mays: Doubles, musts: Doubles, value: float) -> list[float]:  # noqa: ARG002
        centres = self._centres()
        ticks = [_ticks(radius) for radius in mays.tolist()]
        found = [centres.get(radius, _ticks(value)) for radius in ticks]
        self._enter(list(zip(handles.tolist(), ticks, found, strict=True)))
        return [float(each) for each in found]

    def _enter(self, subscriptions: list[tuple[int, int, int]]) -> None:
        for handle, radius, centre in subscriptions:
            if radius not in self._members:
                self._members[radius] = []
                self._new[radius] = centre
                self._stale = True
            self._members[radius].append(handle)
            self._radius_of[handle] = radius

    def _delete(self, handle: int) -> None:
        radius = self._radius_of.pop(handle)
        self._members[radius].remove(handle)
        if not self._members[radius]:
            del self._members[radius]
            self._new.pop(radius, None)
            self._stale = True

    def _centres(self) -> dict[int, int]:
        """Return the centre of each radius."""
        if self.value is None or not len(self._radii):
            return dict(self._new)
        centres = np.empty(len(self._radii), np.int64)
        read(self._nodes, len(self._radii), _ticks(self.value), centres)
        kept = zip(self._radii.tolist(), centres.tolist(), strict=True)
        return {radius: centre for radius, centre in kept if radius in self._members} | self._new

    def _settle(self) -> None:
        if self._stale and self.value is not None:
            centres = self._centres()
            self._radii = np.array(sorted(centres), np.int64)
            self._nodes = np.empty((nodes_for(max(1, len(self._radii)))[0], 8), np.int64)
            self._runs = np.empty((len(self._radii) // 2 + 1, 2), np.int64)
            at = np.array([centres[radius] for radius in self._radii.tolist()], np.int64)
            build(self._nodes, self._radii, at, _ticks(self.value))
            self._new.clear()
            self._stale = False

    def _move(self, value: float | None) -> None:
        if value is None:
            return
        new = _ticks(value)
        assert self.value is not None
        self._settle()
        self.range_count = self.visits = 0
        if len(self._radii):
            found = lookup(self._nodes, len(self._radii), new - _ticks(self.value), self._runs)
            self.range_count, self.visits = found
        runs = self._runs[: self.range_count].tolist()
        self.affected_count = sum(
            len(self._members[radius]) for a, b in runs for radius in self._radii[a : b + 1].tolist()
        )

    def _first(self) -> None:
        self._settle()
        self.range_count = min(1, len(self._radii))
        self._runs[0] = 0, len(self._radii) - 1
        self.affected_count = len(self._radius_of)


def _ticks(number: float) -> int:
    ticks = int(number)
    if ticks != number or abs(ticks) >= MOST_TICKS:
        raise ValueError(f"{number!r} is no whole number of ticks below 2 ** 60, which DeltaTree needs")
    return ticks


@kernel
def build(nodes: Longs, radii: Longs, centres: Longs, value: int) -> None:
    """Make the tree of radii with their centres."""
    size = len(radii)
    for leaf in range(size):
        nodes[leaf, L_MIN] = nodes[leaf, L_MAX] = radii[leaf] + value - centres[leaf]
        nodes[leaf, R_MIN] = nodes[leaf, R_MAX] = radii[leaf] - value + centres[leaf]
        nodes[leaf, LEAST] = nodes[leaf, GREATEST] = radii[leaf]
        nodes[leaf, DRIFT] = nodes[leaf, RESET] = 0
    base = 0
    while size > 1:
        above = (size + FAN - 1) // FAN
        for index in range(above):
            first, last = base + index * FAN, base + min(index * FAN + FAN, size)
            node = base + size + index
            nodes[node, LEAST], nodes[node, GREATEST] = nodes[first, LEAST], nodes[last - 1, GREATEST]
            nodes[node, DRIFT] = nodes[node, RESET] = 0
            _pull(nodes, node, first, last)
        base += size
        size = above


@kernel
def _pull(nodes: Longs, node: int, first: int, last: int) -> None:
    for column in (L_MIN, R_MIN):
        nodes[node, column] = nodes[first, column]
        nodes[node, column + 1] = nodes[first, column + 1]
        for child in range(first + 1, last):
            nodes[node, column] = min(nodes[node, column], nodes[child, column])
            nodes[node, column + 1] = max(nodes[node, column + 1], nodes[child, column + 1])


@kernel
def _reset(nodes: Longs, node: int) -> None:
    nodes[node, L_MIN] = nodes[node, R_MIN] = nodes[node, LEAST]
    nodes[node, L_MAX] = nodes[node, R_MAX] = nodes[node, GREATEST]
    nodes[node, RESET], nodes[node, DRIFT] = 1, 0


@kernel
def _drift(nodes: Longs, node: int, by: int) -> None:
    nodes[node, L_MIN] += by
    nodes[node, L_MAX] += by
    nodes[node, R_MIN] -= by
    nodes[node, R_MAX] -= by
    nodes[node, DRIFT] += by


@kernel
def _push(nodes: Longs, node: int, first: int, last: int) -> None:
    for child in range(first, last):
        if nodes[node, RESET] == 1:
            _reset(nodes, child)
        _drift(nodes, child, nodes[node, DRIFT])
    nodes[node, RESET] = nodes[node, DRIFT] = 0


@kernel
def lookup(nodes: Longs, leaves: int, delta: int, runs: Longs) -> tuple[int, int]:
    """Move the value by a delta; write down the maximal runs of leaves that it affects.

    Returns how many there are, and how many nodes were looked at. Drift is handed down before it is compared, which is
    the same as the seed's comparing with the sum.
    """
    ats = np.empty(LEVELS, np.int64)
    ends = np.empty(LEVELS, np.int64)
    height, size = 0, leaves
    while size > 1:
        size = (size + FAN - 1) // FAN
        height += 1
    level = height
    ats[level], ends[level] = 0, 1
    found = visits = 0
    run = until = -1
    while True:
        index = ats[level]
        base = level_base(leaves, level)
        if index == ends[level]:
            if level == height:
                break
            level += 1
            parent = ats[level] - 1
            _pull(nodes, level_base(leaves, level) + parent, base + parent * FAN, base + index)
            continue
        ats[level] = index + 1
        node = base + index
        visits += 1
        if -nodes[node, L_MIN] < delta < nodes[node, R_MIN]:
            _drift(nodes, node, delta)
            if run >= 0:
                runs[found, 0], runs[found, 1] = run, until
                found += 1
                run = -1
        elif level > 0 and -nodes[node, L_MAX] < delta < nodes[node, R_MAX]:
            level -= 1
            inner = level_base(leaves, level)
            ats[level], ends[level] = index * FAN, min(index * FAN + FAN, base - inner)
            _push(nodes, node, inner + ats[level], inner + ends[level])
        else:
            _reset(nodes, node)
            if run < 0:
                run = index * FAN**level
            until = min((index + 1) * FAN**level, leaves) - 1
    if run >= 0:
        runs[found, 0], runs[found, 1] = run, until
        found += 1
    return found, visits


@kernel
def read(nodes: Longs, leaves: int, value: int, centres: Longs) -> None:
    """Write down the centre of every leaf, handing everything down."""
    height, size = 0, leaves
    while size > 1:
        size = (size + FAN - 1) // FAN
        height += 1
    for level in range(height, 0, -1):
        base, inner = level_base(leaves, level), level_base(leaves, level - 1)
        for index in range(level_base(leaves, level + 1) - base):
            first, last = inner + index * FAN, inner + min(index * FAN + FAN, base - inner)
            _push(nodes, base + index, first, last)
    for leaf in range(leaves):
        centres[leaf] = value + nodes[leaf, R_MIN] - nodes[leaf, LEAST]
