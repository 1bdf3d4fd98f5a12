"""The head of an index: subscriptions that came last, not yet in a segment.

An event finds those of them that ask for one value of an attribute in a table, and looks at all others. Readers need
no lock: entries are only ever appended, and tell from which version on they are there, and gone.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.language import And, Comparison, Expression
from tamis.language.values import read, typed
from tamis.matching.segments.draft import draft_of
from tamis.matching.segments.ids import Id, Ids
from tamis.matching.segments.part import NEVER, Part
from tamis.matching.segments.segment import build
from tamis.matching.segments.texts import Texts

#: Types of values by which an event finds entries: those that are equal if and only if the language says so.
_PLAIN: Final = (int, float, str, bool)


class Entry:
    """A subscription, and from which version of the index on it is there, and gone."""

    __slots__ = ("born", "died", "expression", "id", "text")

    def __init__(self, id: Id, expression: Expression, text: str, born: int) -> None:
        self.id = id
        self.expression = expression
        self.text = text
        self.born = born
        self.died = NEVER

    def is_there(self, version: int) -> bool:
        """Return whether it is there in a version."""
        return self.born <= version < self.died


class Head:
    """Entries, to which one writer at a time appends."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        #: Those that were not removed.
        self.by_id: dict[Id, Entry] = {}
        self._by_value: dict[str, dict[Any, list[Entry]]] = {}
        self._others: list[Entry] = []
        self._part: tuple[Part, list[Entry]] | None = None

    def __len__(self) -> int:
        return len(self.by_id)

    def append(self, entry: Entry) -> None:
        """Append an entry. It is there when its version is."""
        anchor = _anchor(entry.expression)
        if anchor is None:
            self._others.append(entry)
        else:
            self._by_value.setdefault(anchor.attribute, {}).setdefault(anchor.value, []).append(entry)
        self.entries.append(entry)
        self.by_id[entry.id] = entry

    def remove(self, entry: Entry, version: int) -> None:
        """Let an entry be gone from a version on. Its id may have another one by now."""
        entry.died = version
        if self.by_id.get(entry.id) is entry:
            del self.by_id[entry.id]

    def match(self, event: Mapping[str, Any], version: int) -> Iterator[Id]:
        """Yield the ids of what an event meets in a version."""
        if not self.entries:
            return
        for attribute, by_value in list(self._by_value.items()):
            _, value = read(event, attribute)
            for entry in by_value.get(value, ()) if type(value) in _PLAIN else ():
                if entry.is_there(version) and entry.expression.matches(event):
                    yield entry.id
        for entry in self._others:
            if entry.is_there(version) and entry.expression.matches(event):
                yield entry.id

    def as_part(self) -> tuple[Part, list[Entry]]:
        """Return all entries as a part for matching rows, whether they were removed or not."""
        known = self._part
        if known is None or len(known[1]) < len(self.entries):
            # In the order of the part's rows.
            known = self._part = part_of(list(self.entries))
        return known

    @property
    def looked_at(self) -> int:
        """How many entries rows were compared with by `as_part`, since the last was appended."""
        return 0 if self._part is None else self._part[0].segment.looked_at

    def living(self, version: int) -> list[Entry]:
        """Return the entries of a version."""
        return [entry for entry in list(self.entries) if entry.is_there(version)]


def part_of(entries: list[Entry]) -> tuple[Part, list[Entry]]:
    """Return a part with entries, and them in the order of its rows."""
    draft = draft_of([entry.expression for entry in entries])
    segment, order = build(draft)
    ordered = [entries[number] for number in order.tolist()]
    ids, texts = Ids.of([entry.id for entry in ordered]), Texts.of([entry.text for entry in ordered])
    return Part(segment, ids, texts), ordered


def _anchor(expression: Expression) -> Comparison | None:
    """Return a comparison that an event must meet, with one plain value, if there is any."""
    for part in expression.operands if isinstance(expression, And) else (expression,):
        if isinstance(part, Comparison) and part.operator == "=" and type(typed(part.value)[1]) in _PLAIN:
            return part
    return None
