"""What `notify` on Spark must say, by one `Gate` and a plain list of versions."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from support.stores import stored
from tamis import parse_subscription
from tamis.notification import Gate

#: Versions, one after the other: clauses that stay, change, go and come back. All conditions are true.
VERSIONS: list[dict[str, str]] = [
    {
        "a": "true notify p moves 2 per k",
        "b": "true notify p moves 50%",
        "c": "true",
        "d": "true notify q moves by factor 2 per k",
        "e": "true notify s.p moves between 1 and 3 per s.k",
    },
    {"a": "true notify p moves 2 per k", "b": "true notify p moves 2", "c": "true notify p moves 1", "f": "true"},
    {
        "a": "true notify p moves 2 per k",
        "b": "true notify p moves 2",
        "d": "true notify q moves by factor 2 per k",
        "g": "true notify p moves 3 per k",
    },
    # All of one attribute and one key.
    {
        "a": "true notify p moves 2 per k",
        "d": "true notify p moves by factor 2 per k",
        "g": "true notify p moves 3 per k",
    },
]

#: The sequence, the version, who matches, and the event.
Match = tuple[int, int, Sequence[str], Mapping[str, Any]]
#: The sequence, the id, and what is said.
Said = tuple[int | None, str, str]


def store_of(path: Path, versions: Sequence[Mapping[str, str]] = VERSIONS) -> Path:
    """Compile versions without Spark."""
    for version in versions:
        half = len(version) // 2
        items = list(version.items())
        stored(path, [dict(items[:half]), dict(items[half:])])
    return path


class Oracle:
    """One gate, and the clauses of the version in use."""

    def __init__(self, versions: Sequence[Mapping[str, str]] = VERSIONS) -> None:
        self.gate = Gate()
        self._versions = versions
        self._version = 0

    def says(self, matches: Iterable[Match]) -> list[Said]:
        """Take matches in order, and return everything that is not held back."""
        said: list[Said] = []
        for sequence, version, ids, event in matches:
            while self._version < version:
                self._next()
            for id in ids:
                if id not in self.gate:
                    said.append((sequence, id, "told"))
                    continue
                refused = self.gate.refused
                if self.gate.passes(id, event):
                    said.append((sequence, id, "told"))
                elif self.gate.refused > refused:
                    said.append((sequence, id, "refused"))
        return said

    def _next(self) -> None:
        before = self._versions[self._version - 1] if self._version else {}
        after = self._versions[self._version]
        self._version += 1
        for id in before.keys() | after.keys():
            old, new = (_clause(version.get(id)) for version in (before, after))
            if old != new:
                if old is not None:
                    self.gate.remove(id)
                if new is not None:
                    self.gate.add(id, new)


def _clause(text: str | None) -> Any:
    return None if text is None else parse_subscription(text).notify
