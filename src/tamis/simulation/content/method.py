"""What a method of dissemination is, and the registry of methods (specs/003 F9).

A new method is one file with a class decorated with `@register(name, cases)`; importing that file in
`tamis.simulation.content` makes it available.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Final, NamedTuple, TypeVar

import numpy as np

from tamis.notification.affected import Relabelling
from tamis.notification.circle import Longs
from tamis.notification.structure import Radii, Structure
from tamis.simulation.content.forest import CAPACITY, SERVER, Forest
from tamis.simulation.content.meter import Meter

#: Keys that many may have become codes by the handle that stands behind them, in so many bits.
HANDLE_BITS: Final = 21
MOST_HANDLES: Final = 1 << HANDLE_BITS

#: Attributes of messages: what a subscription tells the server (id, radius), what it is told (id, value) and what takes
#: it back (id).
ASKING: Final = 2
TOLD: Final = 2
LEAVING: Final = 1


class Members(NamedTuple):
    """Subscriptions as columns; radii and centres are whole ticks."""

    handles: Longs
    radii: Longs
    centres: Longs
    labels: Longs


class Method(ABC):
    """One way to tell those affected. Hosts are a server, 0, and brokers. Costs are counted by `meter`.

    A method has to reach exactly those whom an event affects, by messages that really find them: what it is told by the
    server is no more than what it would send.
    """

    name: ClassVar[str]
    #: For which radii it is (specs/003 §1).
    cases: ClassVar[tuple[Radii, ...]]

    def __init__(self, hosts: int, capacity: int = CAPACITY) -> None:
        self.meter = Meter(hosts)
        self.forest = Forest(self.meter, hosts, capacity)
        self._brokers = hosts - 1
        self._found: Longs = np.empty((1, 2), np.int64)

    @abstractmethod
    def load(self, members: Members) -> None:
        """Take all subscriptions at once, free of charge."""

    def arrive(self, member: Members, relabellings: Sequence[Relabelling]) -> None:
        """Take one more, whose row is the only one of `member`; labels change first."""
        self.meter.send(self.home(int(member.handles[0])), SERVER, ASKING)
        self._enter(member, relabellings)

    def leave(self, member: Members) -> None:
        """Let one go, as it stands now."""
        self.meter.send(self.home(int(member.handles[0])), SERVER, LEAVING)
        self._withdraw(member)

    @abstractmethod
    def tell(self, old: int, new: int, server: Structure) -> Longs:
        """Tell those whom a new value affects, and return the handles of those that were reached.

        The server has taken the value already, and says by ranges whom it affects.
        """

    @abstractmethod
    def _enter(self, member: Members, relabellings: Sequence[Relabelling]) -> None:
        """Do what it takes beyond telling the server."""

    @abstractmethod
    def _withdraw(self, member: Members) -> None:
        """Do what it takes beyond telling the server."""

    @abstractmethod
    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""

    def home(self, handle: int) -> int:
        """Return the broker at which a subscriber is."""
        return 1 + handle % self._brokers

    def _room(self, count: int) -> Longs:
        """Return a place to write down what messages find."""
        if len(self._found) < count:
            self._found = np.empty((2 * count, 2), np.int64)
        return self._found


def coded(keys: Longs | int, handles: Longs) -> Longs:
    """Return codes in the order of keys."""
    return np.asarray(np.left_shift(keys, HANDLE_BITS) | handles)


def first_code(key: int) -> int:
    """Return the least code of a key."""
    return key << HANDLE_BITS


def last_code(key: int) -> int:
    """Return the greatest code of a key."""
    return (key << HANDLE_BITS) + MOST_HANDLES - 1


M = TypeVar("M", bound=type[Method])

_registry: dict[str, type[Method]] = {}


def register(name: str, cases: tuple[Radii, ...]) -> Callable[[M], M]:
    """Register a method under a name."""

    def decorate(method: M) -> M:
        if name in _registry:
            raise ValueError(f"there is a method named {name!r} already")
        method.name, method.cases = name, cases
        _registry[name] = method
        return method

    return decorate


def methods() -> dict[str, type[Method]]:
    """Return all methods by name."""
    return dict(_registry)


def method_class(name: str) -> type[Method]:
    """Return the method of a name."""
    if name not in _registry:
        raise ValueError(f"there is no method {name!r}; there are: {', '.join(_registry)}")
    return _registry[name]
