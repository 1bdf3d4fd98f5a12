"""What was here lately?"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Final, Generic, TypeVar

#: So many are remembered; the oldest is forgotten first.
REMEMBERED: Final = 1 << 16

Id = TypeVar("Id", bound=Hashable)


class Recent(Generic[Id]):
    """The ids that came last, each once."""

    def __init__(self, ids: Iterable[Id] = (), limit: int = REMEMBERED) -> None:
        self._limit = limit
        # The first key of a plain dictionary is slow to find once others before it are gone.
        self._ids: OrderedDict[Id, None] = OrderedDict.fromkeys(ids)

    def add(self, id: Id) -> bool:
        """Note an id; return whether it is new."""
        if id in self._ids:
            return False
        self._ids[id] = None
        if len(self._ids) > self._limit:
            self._ids.popitem(last=False)
        return True

    def discard(self, id: Id) -> None:
        """Forget an id, if it is there."""
        self._ids.pop(id, None)

    def __contains__(self, id: object) -> bool:
        return id in self._ids

    def __len__(self) -> int:
        return len(self._ids)
