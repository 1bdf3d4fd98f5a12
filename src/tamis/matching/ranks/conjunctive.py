"""What all engines for conjunctions share."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from tamis.language import Expression
from tamis.matching.engine import Rows
from tamis.matching.footprint import footprint
from tamis.matching.ranks.encoding import Encoded, encode
from tamis.matching.ranks.kernels import scan
from tamis.matching.ranks.lists import Ints, Lists, Longs
from tamis.matching.ranks.rank_engine import RankEngine, joined

#: Subscriptions that are taken to rank space at a time: enough to cut each line seldom, and few enough for memory.
_AT_ONCE = 1 << 18
#: A limit that is none.
ALL = np.iinfo(np.int32).max


class ConjunctiveEngine(RankEngine):
    """An engine for conjunctions: a subscription is a list of predicates in rank space, all of which must be met.

    A subclass stores subscriptions in `insert` and `delete`, keeps what it stores by leaf right in `split` and `merge`,
    and finds them in `search`. It never sees subscriptions whose every predicate is also met by absent values
    (`a is null`, `true`): those could not be found through what an event says and are tested on every event here.
    """

    def __init__(self) -> None:
        super().__init__()
        #: The predicates of each position.
        self.held = Lists()
        self._everywhere: dict[int, None] = {}

    # --- what a subclass says -----------------------------------------------------------------------

    @abstractmethod
    def insert(self, position: int, predicates: list[int]) -> None:
        """Store a subscription, at least one of whose predicates does not take null."""

    @abstractmethod
    def delete(self, position: int, predicates: list[int]) -> None:
        """Forget a subscription. Its predicates still exist."""

    def extra_bytes(self) -> int:
        return 0

    # --- subscriptions ------------------------------------------------------------------------------

    def add(self, position: int, expression: Expression) -> None:
        (predicates,) = self._acquire((position,), (expression,))
        if predicates is not None:
            self.held.assign(position, predicates)
            if position not in self._everywhere:
                self.stored += 1
                self.insert(position, predicates)

    def add_many(self, positions: Sequence[int], expressions: Sequence[Expression]) -> None:
        owners: list[int] = []
        for first in range(0, len(positions), _AT_ONCE):
            part = positions[first : first + _AT_ONCE]
            acquired = zip(part, self._acquire(part, expressions[first : first + _AT_ONCE]), strict=True)
            held = {position: predicates for position, predicates in acquired if predicates is not None}
            sizes = [len(each) for each in held.values()]
            flat = np.fromiter(chain.from_iterable(held.values()), np.int64, sum(sizes))
            self.held.extend(np.repeat(np.fromiter(held, np.int64, len(held)), sizes), flat)
            owners += (each for each in held if each not in self._everywhere)
        self.held.reserve(self.top)
        self.stored += len(owners)
        self.insert_many(np.array(owners, np.int32))

    def insert_many(self, positions: Ints) -> None:
        """Store many subscriptions, whose predicates are in `held`: one by one, unless a subclass can do better."""
        for position in positions.tolist():
            self.insert(position, self.held[position].tolist())

    def _acquire(self, positions: Sequence[int], expressions: Sequence[Expression]) -> list[list[int] | None]:
        """Make room for subscriptions in rank space; None stands for one that no event meets."""
        acquired, splits = self.space.acquire(expressions)
        if self.stored:
            for each in splits:
                self.split(each)
        takes_null = self.space.takes_null
        for position, predicates in zip(positions, acquired, strict=True):
            if predicates is None:
                self.never.add(position)
            elif all(takes_null[each] for each in predicates):
                self._everywhere[position] = None
        self.top = max(self.top, max(positions, default=-1) + 1)
        return acquired

    def remove(self, position: int) -> None:
        if position in self.never:
            self.never.remove(position)
            return
        predicates = self.held[position].tolist()
        if position in self._everywhere:
            del self._everywhere[position]
        else:
            self.stored -= 1
            self.delete(position, predicates)
        self.held.clear(position)
        for each in self.space.release(predicates):
            self.merge(each)

    # --- events -------------------------------------------------------------------------------------

    def match_by(self, search: Callable[..., int], events: Encoded) -> Rows:
        """Return what a search finds, and the subscriptions that no search finds."""
        found = super().match_by(search, events)
        return joined(found, super().match_by(self._search_everywhere, events)) if self._everywhere else found

    def _search_everywhere(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        positions = np.fromiter(self._everywhere, np.int32, len(self._everywhere))
        return scan(first, last, events, positions, self.held.view(), self.predicates(), self.ranks(), ends, out, work)

    # --- figures ------------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        stats = super().stats()
        stats["bytes"] += self.held.bytes + footprint(self._everywhere)
        return stats

    def check_invariants(self) -> None:
        super().check_invariants()
        self.held.check_invariants()


class LimitedEngine(ConjunctiveEngine):
    """An engine whose kernel can stop at a number of answers (specs/000 §3: `find(event, limit)`)."""

    @abstractmethod
    def search_up_to(
        self, limit: int, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs
    ) -> int:
        """Do as `search`, and go on to the next row as soon as a row has so many answers."""

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        return self.search_up_to(ALL, first, last, events, ends, out, work)

    def match_up_to(self, limit: int, events: Encoded) -> Rows:
        """Return at most so many positions for each event, and those that no search finds."""
        return self.match_by(partial(self.search_up_to, limit), events)

    def find(self, event: Mapping[str, Any], limit: int = ALL) -> list[int]:
        """Return positions that an event meets, at most so many, and stop as soon as they are found."""
        events = encode(self.space, (event,))
        if self._everywhere:
            _, positions = self.match_up_to(limit, events)
            return positions[:limit].tolist()  # type: ignore[no-any-return]
        # What many rows need beside the search takes longer than a search for one.
        self.prepare()
        out, ends, work = self.answers(), np.zeros(1, np.int64), np.zeros(2, np.int64)
        self.search_up_to(limit, 0, 1, events, ends, out, work)
        self.count(work)
        found: list[int] = out[: min(limit, int(ends[0]))].tolist()
        return found
