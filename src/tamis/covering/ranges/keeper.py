"""Behind `CoverTable(graph="ranges")`: a condition is needless if others together ask for all it asks for."""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from tamis.covering.containment import Shape
from tamis.covering.detectors import detector_class
from tamis.covering.graphs import Change
from tamis.covering.hull import HULL_CLAUSES
from tamis.covering.keeper import Keeper, register
from tamis.covering.ranges.active import ActiveTable
from tamis.covering.ranges.ranks import Cut, Ranks, Stretch, stretches
from tamis.language.normal import TooManyClausesError, form_clauses


class Ranged(Keeper):
    """Conditions as boxes of ranks in a table of active and passive ones.

    A conjunction that asks for one stretch of values of each attribute is such a box exactly. Of any other condition
    there is a box around it: it is needless if others ask for all of that. And if it is a conjunction without filters,
    there is one inside of it, with the first stretch of each attribute: only by that it makes others needless. The
    active table cuts the boxes themselves out of each other, not their cells on the curve (specs/001 F11): cells hold
    more than boxes, and what is kept back must be asked for by somebody for certain.
    """

    def __init__(self) -> None:
        self._table = ActiveTable()
        self._lines: dict[str, Ranks] = {}
        #: By handle: the cuts that it uses.
        self._cuts: dict[int, list[tuple[str, Cut]]] = {}
        #: Those that are not exactly a box.
        self._rough: set[int] = set()

    def add(self, handle: int, shape: Shape) -> Change:
        pieces = _pieces(shape)
        known = shape.atoms is not None and not shape.filtered
        self._cuts[handle] = []
        attributes = tuple(sorted(pieces))
        sides = [self._side(handle, each, pieces[each]) for each in attributes]
        low, high, inner_high = np.array(sides, np.int64).reshape(-1, 3).T.copy()
        exact = known and (high == inner_high).all()
        if not exact:
            self._rough.add(handle)
        return self._table.add(handle, attributes, low, high, bool(exact), (low, inner_high) if known else None)

    def _side(self, handle: int, attribute: str, pieces: list[Stretch]) -> tuple[int, int, int]:
        """Return the ranks at which a side starts and ends, and at which its first stretch ends."""
        line = self._lines.setdefault(attribute, Ranks())
        start, stop, end = *pieces[0], pieces[-1][1]
        for cut, ends in ((start, False), (stop, True), (end, True)):
            if not line.hold(cut, ends):
                self._table.move(attribute, *line.spread())
                line.hold(cut, ends)
            self._cuts[handle].append((attribute, cut))
        return line[start], line[end] - 1, line[stop] - 1

    def remove(self, handle: int) -> Change:
        change = self._table.remove(handle)
        for attribute, cut in self._cuts.pop(handle):
            self._lines[attribute].release(cut)
            if not self._lines[attribute]:
                del self._lines[attribute]
        self._rough.discard(handle)
        return change

    def forwarded(self) -> Collection[int]:
        return self._table.forwarded()

    def above(self, handle: int) -> Iterable[int]:
        coverer = self._table.coverer_of(handle)
        return () if coverer is None else (coverer,)

    def stats(self) -> dict[str, Any]:
        return {
            "undecided": len(self._rough.intersection(self.forwarded())),
            "cuts": sum(map(len, self._lines.values())),
        }

    def check_invariants(self) -> None:
        self._table.check_invariants()
        assert len(self._table) == len(self._cuts)
        assert self._rough <= self._cuts.keys()
        for line in self._lines.values():
            line.check_invariants()
            assert len(line)


def _pieces(shape: Shape) -> dict[str, list[Stretch]]:
    """Return the stretches that each attribute lies in; those of a disjunction are drawn around all of its clauses."""
    if shape.atoms is not None:
        return {attribute: stretches(values) for attribute, values in shape.atoms.items()}
    try:
        clauses = form_clauses(shape.form, HULL_CLAUSES)
    except TooManyClausesError:
        return {}
    around: dict[str, list[Stretch]] = {}
    for attribute in set.intersection(*(set(clause) for clause in clauses)):
        every = [stretches(clause[attribute]) for clause in clauses]
        around[attribute] = [(min(each[0][0] for each in every), max(each[-1][1] for each in every))]
    return around


@register("ranges")
def _ranged(_: int, detector: str) -> Ranged:
    detector_class(detector)
    return Ranged()
