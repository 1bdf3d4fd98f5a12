"""Leases: what is not asked for again in time is forgotten (thesis §7.2, specs/004 §7)."""

import math
from collections.abc import Hashable, Iterator
from heapq import heapify, heappop, heappush
from typing import Final, Generic, Literal, TypeAlias, TypeVar

import msgspec

from tamis.healing.window import Window

#: By what a lease is longer than its interval: by nothing, by the age of what it was granted for, or by how much the
#: ages of late have differed. The farther away the owner is, the more uncertain it is when it will be heard of again.
Extension: TypeAlias = Literal["none", "bound", "uncertainty"]

#: No lease is longer by more than so many seconds, whatever somebody says about ages: what is wrong has to go some day.
LONGEST: Final = 60.0

Row = TypeVar("Row", bound=Hashable)


class Leases(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How long brokers believe what they were told, and how often clients say it again."""

    #: The validity interval T_I and the period of refreshes, in seconds.
    interval: float = 1.0
    refresh: float = 0.8
    #: Other than `none`, it needs ages.
    extension: Extension = "none"
    #: The ages that uncertainty looks back on: those of so many seconds, or so many of them.
    window: float = 20.0
    window_of: Literal["seconds", "messages"] = "seconds"

    def __post_init__(self) -> None:
        if not 0 < self.refresh < self.interval < math.inf:
            raise ValueError(
                f"a lease is refreshed before it ends: refresh {self.refresh} is not between 0 and interval "
                f"{self.interval}"
            )
        if not self.window > 0:
            raise ValueError(f"a window is positive, not {self.window}")
        if self.window_of == "messages" and not float(self.window).is_integer():
            raise ValueError(f"a window is of a whole number of messages, not {self.window}")

    def ages(self) -> Window:
        """Return an empty window."""
        return Window(self.window, None) if self.window_of == "seconds" else Window(None, int(self.window))


class Lease:
    """One lease: since when, how long, how old what it was granted for was, and how old that was of late."""

    __slots__ = ("age", "ages", "extension", "granted", "until")

    def __init__(self, ages: Window) -> None:
        self.age: float | None = None
        self.ages = ages
        self.granted = self.until = self.extension = 0.0


class LeaseTable(Generic[Row]):
    """The leases of one broker, by what is leased. Every step takes the logarithm of their number.

    [FIX] Eq. 7.2 divides by the window, but what it gives is used as seconds: the spread of ages in the window. While
    there is but one age, a lease is longer by that.
    """

    def __init__(self, leases: Leases) -> None:
        self._leases = leases
        self._held: dict[Row, Lease] = {}
        #: When each lease ends, or would have ended before it was granted again.
        self._ends: list[tuple[float, int, Row]] = []
        self._count = 0

    def grant(self, row: Row, now: float, age: float | None = 0.0) -> float | None:
        """Grant a lease, or grant it anew; return how much of the last one was used, None if there was none.

        `age` bounds the age of what came. One that nobody knows makes no lease longer.

        [FIX] Eq. 7.1 has the part that was not used. The thesis' figures and words need `wait / (T_I + ext)`.
        """
        lease = self._held.get(row)
        used = None
        if lease is None:
            lease = self._held[row] = Lease(self._leases.ages())
        else:
            used = (now - lease.granted) / (lease.until - lease.granted)
        lease.age = age
        lease.extension = self._extension(lease, now, age)
        self._set(row, lease, now)
        return used

    def _extension(self, lease: Lease, now: float, age: float | None) -> float:
        if self._leases.extension == "none" or age is None or not 0 <= age < math.inf:
            return 0.0
        if self._leases.extension == "bound":
            return min(age, LONGEST)
        lease.ages.add(age, now)
        return min(age if len(lease.ages) < 2 else lease.ages.spread, LONGEST)

    def _set(self, row: Row, lease: Lease, now: float) -> None:
        lease.granted = now
        lease.until = now + self._leases.interval + lease.extension
        self._count += 1
        heappush(self._ends, (lease.until, self._count, row))

    def ended(self, now: float) -> list[Row]:
        """Take out what was not refreshed in time. What ends just now has not ended yet."""
        gone: list[Row] = []
        while self._ends and self._ends[0][0] < now:
            until, _, row = heappop(self._ends)
            lease = self._held.get(row)
            if lease is not None and lease.until == until:
                del self._held[row]
                gone.append(row)
        return gone

    def next_end(self) -> float | None:
        """Return when something may end next; never too late."""
        return self._ends[0][0] if self._ends else None

    def drop(self, row: Row) -> None:
        """Forget a lease of something that is there no longer."""
        self._held.pop(row, None)

    def rewind(self, now: float) -> None:
        """Grant all leases anew: the clock has gone backwards, and what it showed before says nothing."""
        self._ends.clear()
        for row, lease in self._held.items():
            lease.ages = self._leases.ages()
            self._set(row, lease, now)
        heapify(self._ends)

    def __getitem__(self, row: Row) -> Lease:
        return self._held[row]

    def get(self, row: Row) -> Lease | None:
        """Return the lease of a row, if it has one."""
        return self._held.get(row)

    def __contains__(self, row: object) -> bool:
        return row in self._held

    def __iter__(self) -> Iterator[Row]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        ends = {(row, until) for until, _, row in self._ends}
        longest = self._leases.interval + LONGEST
        for row, lease in self._held.items():
            assert (row, lease.until) in ends, "a lease without an end"
            assert lease.granted < lease.until <= lease.granted + longest * (1 + 1e-9)
