"""The lines of a segment: where values of events lie among its cuts."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from tamis.language.columns import Columns
from tamis.language.names import name_of, parts_of
from tamis.language.valueset import Filter
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.space import Dimension
from tamis.matching.segments.attribute import Attribute
from tamis.matching.segments.cuts import Cuts
from tamis.matching.segments.locating import Entries, locate
from tamis.matching.segments.stretches import Stretches
from tamis.matching.segments.values import Values

_NOTHING: Final[Ints] = np.empty(0, np.int32)


class Lines:
    """The dimensions of a segment with their cuts, in order and numbered through. A leaf has the number of its cut."""

    def __init__(self, names: Sequence[Dimension], cuts: Cuts) -> None:
        self.names = list(names)
        self.cuts = cuts
        #: By dimension: the leaf of null.
        self.base: Ints = np.searchsorted(cuts.dimension, np.arange(len(self.names) + 1)).astype(np.int32)
        self.stretches = Stretches(cuts, len(self.names))
        self._attributes = _attributes(self.names, self.stretches)
        #: Attributes that are only a line, and whose values need no taking apart; and the others.
        self._plain = {
            name: known[0]
            for name, known in self._attributes.items()
            if len(known) == 1 and not known[0].rest and not known[0].filters
        }
        self._others = {name: known for name, known in self._attributes.items() if name not in self._plain}
        self._dimensions = {name: each.dimension for name, each in self._plain.items()}
        self._plain_leaves = {name: each.leaves for name, each in self._plain.items()}

    def places_of(self, values: Values) -> tuple[Ints, Ints]:
        """Return the lines on which the numbers of an event lie, -1 for none, and the leaves of everything else."""
        dimension, plain = self._dimensions.get, self._plain_leaves.get
        on = np.array([dimension(name, -1) for name in values.names], np.int32) if values.names else _NOTHING
        found: list[int] = []
        others = self._others
        for name, value in values.rest.items():
            leaves = plain(name)
            if leaves is not None:
                leaf = leaves[type(value)][value]
                if leaf >= 0:
                    found.append(leaf)
            elif name in others:
                for each in others[name]:
                    each.locate(value, found)
        if others:
            for name in values.names:
                for each in others.get(name, ()):
                    each.locate(values.event[name], found)
        return on, np.array(found, np.int32) if found else _NOTHING

    def leaves_of(self, event: Mapping[str, Any]) -> list[int]:
        """Return the leaves on which the values of an event lie; null is left out."""
        values = Values(event)
        on, others = self.places_of(values)
        numbers = np.empty(len(on), np.int32)
        line, cuts = self.stretches, self.cuts
        count = locate(on, values.wholes, values.reals, line.begin, line.end, cuts.whole, cuts.real, numbers)
        found: list[int] = [*numbers[:count].tolist(), *others.tolist()]
        return found

    def leaves_of_rows(self, batch: pa.RecordBatch) -> tuple[Longs, Ints]:
        """Return the leaves of all rows: those of row r lie from `offsets[r]` up to `offsets[r + 1]`."""
        schema, columns = batch.schema, Columns(batch)
        entries = Entries(batch.num_rows)
        for place, name in enumerate(schema.names):
            # A name that occurs twice is no attribute: it has no place.
            if name not in self._attributes or schema.get_field_index(name) != place:
                continue
            plain = self._plain.get(name)
            if plain is None or not plain.locate_plainly(batch.column(place), entries):
                for each in self._attributes[name]:
                    each.locate_rows(columns.column(name_of(name, *each.rest)), entries)
        return entries.by_row()


def _attributes(names: Sequence[Dimension], stretches: Stretches) -> dict[str, list[Attribute]]:
    """Return the attributes by the first part of their names."""
    lines = {parts_of(name): dimension for dimension, name in enumerate(names) if isinstance(name, str)}
    filters: dict[tuple[str, ...], dict[int, Filter]] = {}
    for dimension, name in enumerate(names):
        if not isinstance(name, str):
            filters.setdefault(parts_of(name.attribute), {})[dimension] = name
    found: dict[str, list[Attribute]] = {}
    for parts in dict.fromkeys((*lines, *filters)):
        first, *rest = parts
        found.setdefault(first, []).append(Attribute(stretches, tuple(rest), lines.get(parts), filters.get(parts, {})))
    return found
