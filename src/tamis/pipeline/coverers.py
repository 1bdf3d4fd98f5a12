"""Who covers whom among conditions that have come together in one task.

Whoever covers a condition constrains no attributes but those that it constrains, and its box contains the other's box.
So each set of attributes has a tree of boxes, and a condition is looked up in the trees of the subsets. A condition
that is nothing but its box covers whatever lies in it; others are candidates, about which `covering` decides.
"""

from collections.abc import Iterator
from functools import lru_cache, reduce
from typing import Any, Final

import numpy as np
import pyarrow as pa

from tamis.covering.bulk import Planted, merged
from tamis.covering.containment import Shape, covering, shape
from tamis.covering.detectors import NOBODY, Longs
from tamis.covering.settled import settled
from tamis.language import Expression, parse
from tamis.language.normal import AllOf, Atom, Clause, conjunction, form, spelled
from tamis.language.valueset import ValueSet
from tamis.pipeline.outlines import Outlines, array_of

#: Candidates that are compared with one condition; if there are more, it is undecided.
CANDIDATES: Final = 128
#: Conditions that are kept parsed.
_PARSED: Final = 20_000
#: Not looked for yet.
_UNKNOWN: Final = -2

Names = tuple[str, ...]


def coverers_in(table: pa.Table) -> pa.Table:
    """Return for the rows of a table that are at home: `form`, who covers it (`by`) or null, and if it is `undecided`.

    Whoever covers a row that is at home must be in the table, and is not covered itself by anyone in it.
    """
    crowd = _Crowd(table)
    home = np.flatnonzero(array_of(crowd.table, "home").to_numpy(zero_copy_only=False))
    roots = crowd.roots(home)
    covered = roots != home
    ids = array_of(crowd.table, "id")
    columns = {
        "form": array_of(crowd.table, "form").take(pa.array(home)),
        "by": ids.take(pa.array(roots, mask=~covered)),
        "undecided": pa.array(crowd.undecided[home] & ~covered),
    }
    return pa.table(columns)


def groups_in(table: pa.Table) -> pa.Table:
    """Return the boxes of a table that can be merged: `id`, `condition`, and the `first` of the group."""
    outlines = Outlines(table)
    ids, texts = array_of(outlines.table, "id"), array_of(outlines.table, "condition")
    members: list[int] = []
    firsts: list[int] = []
    for names, rows in outlines.rows.items():
        group = merged(outlines.lows[names], outlines.highs[names])
        order = np.argsort(group, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            if len(some) > 1:
                several = rows[some].tolist()
                members += several
                firsts += [several[0]] * len(several)
    kept = pa.array(members, pa.int64())
    columns = [ids.take(kept), texts.take(kept), ids.take(pa.array(firsts, pa.int64()))]
    return pa.table(columns, names=["id", "condition", "first"])


def together_in(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return groups, which are lists of ids and lists of conditions, with one condition for all."""
    for batch in batches:
        ids, conditions = batch.columns
        texts = pa.array(map(_together, conditions.to_pylist()), pa.string())
        yield pa.RecordBatch.from_arrays([texts, ids], names=["condition", "ids"])


def _together(texts: list[str]) -> str:
    """Return the condition of boxes that together are one box: for each attribute all values of any of them.

    Values are taken as they are written, not as they settle, so that `> 5` is not spelled as the next double.
    """
    several = [_atoms(parse(text)) for text in texts]
    atoms = [
        Atom(name, reduce(ValueSet.union, [each[name] for each in several]))
        for name in several[0]
        if all(name in each for each in several)
    ]
    return str(spelled(conjunction(atoms)))


def _atoms(condition: Expression) -> Clause:
    for part in (form(condition), settled(condition)):
        parts = part.parts if isinstance(part, AllOf) else (part,)
        found = {each.attribute: each.values for each in parts if isinstance(each, Atom)}
        if len(found) == len(parts):
            return found
    raise ValueError(f"{condition} is no box")


class _Crowd:
    """Conditions of a table, and what has been found out about them."""

    def __init__(self, table: pa.Table) -> None:
        self._outlines = Outlines(table)
        self.table = self._outlines.table
        count = self.table.num_rows
        self._ids = array_of(self.table, "id")
        self._texts = array_of(self.table, "condition")
        self._box = array_of(self.table, "is_box").to_numpy(zero_copy_only=False)
        known = array_of(self.table, "is_known").to_numpy(zero_copy_only=False)
        self._parents = np.full(count, _UNKNOWN, np.int64)
        self.undecided = ~known
        self._place = np.empty(count, np.int64)
        self._names: list[Names] = list(self._outlines.rows)
        self._set = np.empty(count, np.int64)
        self._points: dict[Names, Longs] = {}
        #: By set of attributes: the trees of those that are boxes and of the others, each with the rows of its points.
        self._boxes: dict[Names, tuple[Planted, Longs]] = {}
        self._others: dict[Names, tuple[Planted, Longs]] = {}
        for number, (names, rows) in enumerate(self._outlines.rows.items()):
            self._place[rows], self._set[rows] = np.arange(len(rows)), number
            points = self._points[names] = self._outlines.points(names)
            for trees, wanted in ((self._boxes, self._box[rows]), (self._others, ~self._box[rows] & known[rows])):
                chosen = np.flatnonzero(wanted)
                if len(chosen):
                    trees[names] = Planted(points[chosen]), rows[chosen]
        self._shape = lru_cache(maxsize=_PARSED)(self._read)

    def roots(self, rows: Longs) -> Longs:
        """Return for each row one that covers it and is covered by none, or the row itself."""
        waiting = rows
        while len(waiting):
            self._look_for(waiting)
            above = np.unique(self._parents[waiting])
            above = above[above >= 0]
            waiting = above[self._parents[above] == _UNKNOWN]
        upwards = np.where(self._parents < 0, np.arange(len(self._parents)), self._parents)
        while ((further := upwards[upwards]) != upwards).any():
            upwards = further
        return upwards[rows]

    def _look_for(self, rows: Longs) -> None:
        """Find for each row one that covers it."""
        self._parents[rows] = NOBODY
        for number in np.unique(self._set[rows]).tolist():
            some = rows[self._set[rows] == number]
            names = self._names[number]
            within = [each for each in self._names if set(names).issuperset(each)]
            for each in within:
                some = some[self._parents[some] == NOBODY]
                if each in self._boxes and len(some):
                    tree, owners = self._boxes[each]
                    found = tree.first(self._queries(names, each, some), self._own(owners, some))
                    self._parents[some] = np.where(found == NOBODY, NOBODY, owners[found])
            for each in within:
                if each in self._others:
                    for row in some[self._parents[some] == NOBODY].tolist():
                        self._decide(row, names, each)

    def _queries(self, names: Names, within: Names, rows: Longs) -> Longs:
        """Return rows of a set of attributes as points of a set within."""
        places = np.array([names.index(each) for each in within], np.int64)
        columns = np.stack((2 * places, 2 * places + 1), axis=1).reshape(-1)
        return np.ascontiguousarray(self._points[names][self._place[rows]][:, columns])

    def _own(self, owners: Longs, rows: Longs) -> Longs:
        """Return which points of a tree are the rows themselves."""
        at = np.minimum(np.searchsorted(owners, rows), len(owners) - 1)
        return np.where(owners[at] == rows, at, NOBODY)

    def _decide(self, row: int, names: Names, within: Names) -> None:
        """Compare a row with those of a set that may cover it."""
        tree, owners = self._others[within]
        candidates = tree.some(self._queries(names, within, np.array([row]))[0], CANDIDATES + 1)
        if len(candidates) > CANDIDATES:
            # None rather than some: in every bucket the same is to be found out about it.
            self.undecided[row] = True
            return
        for other in owners[candidates].tolist():
            if other != row and self._covers(other, row):
                self._parents[row] = other
                return

    def _covers(self, upper: int, lower: int) -> bool:
        """Return whether one covers another for certain; of two that may cover each other only one does.

        Otherwise several equal ones of different form could lead round in a circle, and none would be left.
        """
        answer = covering(self._shape(upper), self._shape(lower))
        if answer is None:
            self.undecided[lower] = True
        if not answer:
            return False
        if self._rank(upper) < self._rank(lower):
            return True
        reverse = covering(self._shape(lower), self._shape(upper))
        if reverse is None:
            self.undecided[lower] = True
        return reverse is False

    def _rank(self, row: int) -> tuple[bool, Any]:
        return not self._box[row], self._ids[row].as_py()

    def _read(self, row: int) -> Shape:
        return shape(self._texts[row].as_py())
