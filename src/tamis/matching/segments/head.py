"""The head of an index: subscriptions that came last, not yet in a segment.

An event finds them by their anchors. Readers need no lock: entries are only ever appended, and tell from which version
on they are there, and gone.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tamis.language import Expression
from tamis.matching.segments.anchors import Anchors
from tamis.matching.segments.draft import Draft, Drafting, draft_of
from tamis.matching.segments.ids import Id, Ids
from tamis.matching.segments.part import NEVER, Part
from tamis.matching.segments.segment import build
from tamis.matching.segments.texts import Texts


class Entry(msgspec.Struct, eq=False, gc=False):
    """A subscription, and from which version of the index on it is there, and gone."""

    id: Id
    expression: Expression
    text: str
    born: int
    died: int = NEVER

    def is_there(self, version: int) -> bool:
        """Return whether it is there in a version."""
        return self.born <= version < self.died


class Head:
    """Entries, to which one writer at a time appends."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        #: Those that were not removed.
        self.by_id: dict[Id, Entry] = {}
        self._anchors: Anchors[Entry] = Anchors()
        #: All entries, for a part that is made of them: to draft each as it comes keeps no reader waiting.
        self._drafting = Drafting()
        self._part: tuple[Part, list[Entry]] | None = None

    def __len__(self) -> int:
        return len(self.by_id)

    def append(self, entry: Entry) -> None:
        """Append an entry. It is there when its version is."""
        self._drafting.append(entry.expression)
        self._anchors.append(entry.expression, entry)
        self.entries.append(entry)
        self.by_id[entry.id] = entry

    def remove(self, entry: Entry, version: int) -> None:
        """Let an entry be gone from a version on. Its id may have another one by now."""
        entry.died = version
        if self.by_id.get(entry.id) is entry:
            del self.by_id[entry.id]

    def match(self, event: Mapping[str, Any], version: int) -> Iterator[Id]:
        """Yield the ids of what an event meets in a version."""
        for entry in self._anchors.met(event):
            if entry.is_there(version) and entry.expression.matches(event):
                yield entry.id

    def as_part(self) -> tuple[Part, list[Entry]]:
        """Return all entries as a part for matching rows, whether they were removed or not."""
        known = self._part
        if known is None or len(known[1]) < len(self.entries):
            # In the order of the part's rows.
            known = self._part = part_of(list(self.entries))
        return known

    def finished(self, version: int) -> tuple[Part, list[Entry]] | None:
        """Return the entries of a version as a part, and in the order of its rows. Nothing is appended any more."""
        entries = self.living(version)
        if not entries:
            return None
        # Without what was removed, for an id may have two entries, and what somebody left who was interrupted.
        whole = len(entries) == len(self._drafting)
        return part_of(entries, self._drafting.draft() if whole else None)

    @property
    def looked_at(self) -> int:
        """How many entries rows were compared with by `as_part`, since the last was appended."""
        return 0 if self._part is None else self._part[0].segment.looked_at

    def living(self, version: int) -> list[Entry]:
        """Return the entries of a version."""
        return [entry for entry in list(self.entries) if entry.is_there(version)]


def part_of(entries: list[Entry], draft: Draft | None = None) -> tuple[Part, list[Entry]]:
    """Return a part with entries, and them in the order of its rows. They may have been drafted already."""
    segment, order = build(draft or draft_of(entry.expression for entry in entries))
    ordered = [entries[number] for number in order.tolist()]
    ids, texts = Ids.of([entry.id for entry in ordered]), Texts.of([entry.text for entry in ordered])
    return Part(segment, ids, texts), ordered
