"""What a subscriber gets."""

from collections.abc import Iterator, Mapping
from typing import Any


class Event(Mapping[str, Any]):
    """An event: its attributes by name, its id, and, where the broker bounds ages, how old it is at most."""

    __slots__ = ("_max_age", "age_bound", "content", "id", "trace")

    def __init__(
        self,
        id: str | int,
        content: dict[str, Any],
        age_bound: float | None = None,
        max_age: float | None = None,
        trace: str | None = None,
    ) -> None:
        self.id = id
        self.content = content
        #: At most so many seconds had passed since it was published when the broker handed it to the connection; None
        #: if nobody measures that.
        self.age_bound = age_bound
        self._max_age = max_age
        #: The W3C trace context (`traceparent`) in which it was published, if there was one.
        self.trace = trace

    @property
    def timely(self) -> bool | None:
        """Whether it is at most as old as the broker's `max_age` for sure; None if nobody asked."""
        return None if self.age_bound is None or self._max_age is None else self.age_bound <= self._max_age

    def __getitem__(self, name: str) -> Any:
        return self.content[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)

    def __repr__(self) -> str:
        return f"Event({self.id!r}, {self.content!r})"
