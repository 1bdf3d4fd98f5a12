"""Which events were here lately?"""

from typing import Final

from tamis.routing.packets import Name

#: So many are remembered; the oldest is forgotten first.
REMEMBERED: Final = 1 << 16


class Recent:
    """The ids that came last, each once."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._ids: dict[Name, None] = {}

    def add(self, id: Name) -> bool:
        """Note an id; return whether it is new."""
        if id in self._ids:
            return False
        self._ids[id] = None
        if len(self._ids) > self._limit:
            del self._ids[next(iter(self._ids))]
        return True

    def __len__(self) -> int:
        return len(self._ids)
