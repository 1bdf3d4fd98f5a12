"""The lines of a segment: where values of events lie among its cuts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.language.columns import Columns
from tamis.language.names import name_of, parts_of
from tamis.language.valueset import Filter
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.space import Dimension
from tamis.matching.segments.attribute import Attribute
from tamis.matching.segments.cuts import Cuts
from tamis.matching.segments.locating import Entries
from tamis.matching.segments.stretches import Stretches


class Lines:
    """The dimensions of a segment with their cuts, in order and numbered through. A leaf has the number of its cut."""

    def __init__(self, names: Sequence[Dimension], cuts: Cuts) -> None:
        self.names = list(names)
        self.cuts = cuts
        #: By dimension: the leaf of null.
        self.base: Ints = np.searchsorted(cuts.dimension, np.arange(len(self.names) + 1)).astype(np.int32)
        self._attributes = _attributes(self.names, Stretches(cuts, len(self.names)))
        #: Attributes that are only a line, and whose values need no taking apart.
        self._plain = {
            name: known[0]
            for name, known in self._attributes.items()
            if len(known) == 1 and not known[0].rest and not known[0].filters
        }
        self._plain_leaves = {name: attribute.leaves for name, attribute in self._plain.items()}

    def leaves_of(self, event: Mapping[str, Any]) -> list[int]:
        """Return the leaves on which the values of an event lie; null is left out."""
        found: list[int] = []
        plain, attributes = self._plain_leaves, self._attributes
        for name, value in event.items():
            leaves = plain.get(name)
            if leaves is not None:
                leaf = leaves[type(value)][value]
                if leaf >= 0:
                    found.append(leaf)
            elif name in attributes:
                for each in attributes[name]:
                    each.locate(value, found)
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
