"""What all engines for arbitrary expressions on rank space share."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tamis.language import Expression
from tamis.matching.engine import Rows
from tamis.matching.footprint import footprint
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.forms import Forms
from tamis.matching.ranks.line import Split
from tamis.matching.ranks.listing import Listing
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.rank_engine import RankEngine, joined

#: Subscriptions that are taken to rank space at a time: enough to cut each line seldom, and few enough for memory.
_AT_ONCE = 1 << 19


class ArbitraryEngine(RankEngine):
    """An engine that stores forms (see `forms`). What is always or never met is no concern of a subclass."""

    shaped = False
    #: What writes expressions as forms.
    forms: type[Forms] = Forms

    def __init__(self) -> None:
        super().__init__()
        #: The predicates that an event is asked for.
        self.listing = Listing(self.space)
        #: Subscriptions that every event meets, of which nothing is stored.
        self.always: dict[int, None] = {}

    # --- what a subclass says -----------------------------------------------------------------------

    @abstractmethod
    def store(self, positions: Ints, offsets: Longs, codes: Longs) -> None:
        """Store forms: that of `positions[n]` is `codes[offsets[n] : offsets[n + 1]]`.

        Every predicate in them was counted as used once for each time that it occurs.
        """

    @abstractmethod
    def forget(self, position: int) -> list[int]:
        """Forget a form and return its predicates, each as often as its use was counted. They still exist."""

    # --- subscriptions ------------------------------------------------------------------------------

    def add(self, position: int, expression: Expression) -> None:
        self.add_many((position,), (expression,))

    def add_many(self, positions: Sequence[int], expressions: Sequence[Expression]) -> None:
        for first in range(0, len(positions), _AT_ONCE):
            self._add(positions[first : first + _AT_ONCE], expressions[first : first + _AT_ONCE])

    def _add(self, positions: Sequence[int], expressions: Sequence[Expression]) -> None:
        forms = self.forms()
        stored: list[int] = []
        for position, expression in zip(positions, expressions, strict=True):
            constant = forms.write(expression)
            if constant is None:
                stored.append(position)
            elif constant:
                self.always[position] = None
            else:
                self.never.add(position)
        self.top = max(self.top, max(positions, default=-1) + 1)
        numbers, splits = self.space.take(forms.wanted, forms.uses())
        if self.stored:
            self.split_all(splits)
        self.stored += len(stored)
        self.store(np.array(stored, np.int32), *forms.resolve(numbers))

    def split_all(self, splits: list[Split]) -> None:
        """Give new leaves what the old ones hold."""
        self.listing.split(splits)

    def remove(self, position: int) -> None:
        if position in self.never:
            self.never.remove(position)
        elif position in self.always:
            del self.always[position]
        else:
            self.stored -= 1
            self._release(self.forget(position))

    def _release(self, predicates: list[int]) -> None:
        uses = self.space.uses
        counts = np.unique(predicates, return_counts=True) if predicates else ((), ())
        gone = [each for each, count in zip(*counts, strict=True) if uses[each] == count and each in self.listing]
        self.listing.remove(gone)
        for merge in self.space.release(predicates):
            self.merge(merge)
            self.listing.merge(merge)

    # --- events -------------------------------------------------------------------------------------

    def match_by(self, search: Callable[..., int], events: Encoded) -> Rows:
        """Return what a search finds, and the subscriptions that every event meets."""
        found = super().match_by(search, events)
        if not self.always:
            return found
        each = np.fromiter(self.always, np.int64, len(self.always))
        return joined(found, (np.arange(events.rows + 1) * len(each), np.tile(each, events.rows)))

    # --- figures ------------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        stats = super().stats()
        stats["bytes"] += self.listing.bytes + footprint(self.always)
        return stats

    def check_invariants(self) -> None:
        super().check_invariants()
        self.listing.check_invariants()
