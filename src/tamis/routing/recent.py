"""What was here lately?"""

from collections.abc import Hashable
from typing import Final, Generic

from typing_extensions import TypeVar

from tamis.routing.packets import Name

#: So many are remembered; the oldest is forgotten first.
REMEMBERED: Final = 1 << 16

Id = TypeVar("Id", bound=Hashable, default=Name)


class Recent(Generic[Id]):
    """The ids that came last, each once."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._ids: dict[Id, None] = {}

    def add(self, id: Id) -> bool:
        """Note an id; return whether it is new."""
        if id in self._ids:
            return False
        self._ids[id] = None
        if len(self._ids) > self._limit:
            del self._ids[next(iter(self._ids))]
        return True

    def __contains__(self, id: object) -> bool:
        return id in self._ids

    def __len__(self) -> int:
        return len(self._ids)
