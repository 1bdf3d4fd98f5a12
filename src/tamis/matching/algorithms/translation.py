"""Translation (specs/002 §8): expressions are written as disjunctions of conjunctions, which an OpIndex holds."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tamis.compiled import kernel
from tamis.language import Expression
from tamis.language.normal import Clause, TooManyClausesError, clauses
from tamis.matching.algorithms.occurrences import extend, holds
from tamis.matching.algorithms.opindex import OpIndex
from tamis.matching.engine import Capabilities, Rows, register
from tamis.matching.footprint import footprint
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.forms import Forms, leaves_of
from tamis.matching.ranks.kernels import CANDIDATES, Predicates, enter, leave
from tamis.matching.ranks.lists import Ints, Lists, Longs, View, grown
from tamis.matching.ranks.rank_engine import RankEngine, joined
from tamis.matching.ranks.space import Wanted, conditions

#: Expressions that are translated at a time, so that there are never the clauses of all as sets of values.
_AT_ONCE = 1 << 14
#: When the clock of a thread, which counts events, starts anew.
_CLOCK_WRAPS = 1 << 30


@register(
    "translation",
    Capabilities(
        arbitrary=True,
        exact=True,
        dynamic=True,
        batch=True,
        summary="disjunctive normal form into an OpIndex (Translation; specs/002 §8)",
    ),
)
class Translation(OpIndex):
    """What is a subscription to an OpIndex is a clause here.

    [ours] Predicates on the same attribute are intersected, and clauses that no event meets are left out. Expressions
    with more than `tamis.language.normal.DEFAULT_CLAUSES` clauses are not translated but evaluated on every event.
    """

    def __init__(self) -> None:
        super().__init__()
        #: By position: its clauses. By clause: the position.
        self._clauses = Lists()
        self._owner: Ints = np.zeros(1, np.int32)
        self._free: list[int] = []
        self._count = 0
        #: Above all positions; `top` is above all clauses.
        self._highest = 0
        #: By position that is not translated: its form.
        self._forms = Lists()
        self._untranslated: dict[int, None] = {}
        self._longest = 0

    # --- subscriptions ------------------------------------------------------------------------------

    def add(self, position: int, expression: Expression) -> None:
        self.add_many((position,), (expression,))

    def add_many(self, positions: Sequence[int], expressions: Sequence[Expression]) -> None:
        self._highest = max(self._highest, max(positions, default=-1) + 1)
        for first in range(0, len(positions), _AT_ONCE):
            self._add(positions[first : first + _AT_ONCE], expressions[first : first + _AT_ONCE])

    def _add(self, positions: Sequence[int], expressions: Sequence[Expression]) -> None:
        wanted = Wanted()
        owners: list[int] = []
        rows: list[list[int]] = []
        large: dict[int, Expression] = {}
        for position, expression in zip(positions, expressions, strict=True):
            try:
                found = clauses(expression)
            except TooManyClausesError:
                large[position] = expression
                continue
            owners += [position] * len(found)
            rows += _wanted(found, wanted)
        if rows:
            self._add_clauses(owners, rows, wanted)
        if large:
            self._add_large(large)

    def _add_clauses(self, owners: list[int], rows: list[list[int]], wanted: Wanted) -> None:
        """Do for clauses, as lists of wanted predicates, what `ConjunctiveEngine.add_many` does for conjunctions."""
        numbers = [self._free.pop() for _ in range(min(len(rows), len(self._free)))]
        fresh = len(rows) - len(numbers)
        numbers += range(self._count, self._count + fresh)
        self._count += fresh
        self.top = max(self.top, self._count)
        self._owner = grown(self._owner, self._count)
        self._owner[numbers] = owners
        extend(self._clauses, np.array(owners), np.array(numbers))
        flat = np.array([each for row in rows for each in row], np.int64)
        found, _ = self.space.take(wanted, np.bincount(flat, minlength=wanted.count).tolist())
        extend(self.held, np.repeat(numbers, [len(row) for row in rows]), np.array(found, np.int64)[flat])
        takes_null = [self.space.takes_null[each] for each in found]
        anywhere = [number for number, row in zip(numbers, rows, strict=True) if all(takes_null[each] for each in row)]
        self._everywhere |= dict.fromkeys(anywhere)
        stored = [number for number in numbers if number not in self._everywhere]
        self.stored += len(stored)
        self.insert_many(np.array(stored, np.int32))

    def _add_large(self, large: dict[int, Expression]) -> None:
        forms = Forms()
        for expression in large.values():
            forms.write(expression)
        numbers, _ = self.space.take(forms.wanted, forms.uses())
        offsets, codes = forms.resolve(numbers)
        extend(self._forms, np.repeat(np.fromiter(large, np.int32, len(large)), np.diff(offsets)), codes)
        self._untranslated |= dict.fromkeys(large)
        self._longest = max(self._longest, int(np.diff(offsets).max()))
        self.top = max(self.top, len(self._untranslated))

    def remove(self, position: int) -> None:
        if position in self._untranslated:
            del self._untranslated[position]
            self.space.release(leaves_of(self._forms[position].astype(np.int64)).tolist())
            self._forms.clear(position)
            return
        numbers = self._clauses[position].tolist()
        self._clauses.clear(position)
        self._free += numbers
        for number in numbers:
            super().remove(number)

    # --- events -------------------------------------------------------------------------------------

    def match_by(self, search: Callable[..., int], events: Encoded) -> Rows:
        """Return the expressions that have a clause among those that a search finds, and those that it cannot find."""
        found = self._merged(*super().match_by(search, events))
        if not self._untranslated:
            return found
        self._forms.reserve(self._highest)
        return joined(found, RankEngine.match_by(self, self._search_untranslated, events))

    def _merged(self, offsets: Longs, numbers: Longs) -> Rows:
        clock, seen = self.scratch("clock", 1), self.scratch("seen", self._highest)
        if clock[0] > _CLOCK_WRAPS:
            clock[0] = seen[:] = 0
        ends = np.zeros_like(offsets)
        return ends, numbers[: _merge(offsets, numbers, self._owner, seen, clock, ends)]

    def _search_untranslated(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        return _scan(
            first,
            last,
            events,
            np.fromiter(self._untranslated, np.int32, len(self._untranslated)),
            self._forms.view(),
            self.predicates(),
            self.ranks(),
            self.scratch("truths", 2 * self._longest),
            ends,
            out,
            work,
        )

    # --- figures ------------------------------------------------------------------------------------

    def extra_bytes(self) -> int:
        lists = self._clauses.bytes + self._forms.bytes
        return super().extra_bytes() + lists + self._owner.nbytes + footprint(self._free, self._untranslated)

    def stats(self) -> dict[str, Any]:
        clauses = self._count - len(self._free)
        return super().stats() | {"clauses": clauses, "untranslated": len(self._untranslated)}

    def check_invariants(self) -> None:
        super().check_invariants()
        self._clauses.check_invariants()
        self._forms.check_invariants()
        assert sorted(self._untranslated) == np.flatnonzero(self._forms.size).tolist()
        positions = np.flatnonzero(self._clauses.size)
        owners, numbers = self._clauses.pairs(positions)
        assert (self._owner[numbers] == owners).all()
        assert sorted(numbers.tolist() + self._free) == list(range(self._count))


def _wanted(found: list[Clause], wanted: Wanted) -> list[list[int]]:
    """Return the predicates that the clauses of an expression want. They mostly share their sets of values."""
    distinct = {(attribute, id(values)): values for clause in found for attribute, values in clause.items()}
    numbers = {key: [wanted.number(*each) for each in conditions(key[0], values)] for key, values in distinct.items()}
    return [[number for name, values in clause.items() for number in numbers[name, id(values)]] for clause in found]


@kernel
def _merge(offsets: Longs, numbers: Longs, owner: Ints, seen: Ints, clock: Ints, ends: Longs) -> int:
    """Put the owners of each row's clauses, each once, in their place; return how many there are in all."""
    used = 0
    for row in range(len(offsets) - 1):
        clock[0] += 1
        for place in range(offsets[row], offsets[row + 1]):
            position = owner[numbers[place]]
            if seen[position] != clock[0]:
                seen[position] = clock[0]
                numbers[used] = position
                used += 1
        ends[row + 1] = used
    return used


@kernel
def _scan(
    first: int,
    last: int,
    events: Encoded,
    positions: Ints,
    forms: View,
    predicates: Predicates,
    ranks: Ints,
    truths: Ints,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    start, size, codes = forms
    used = 0
    for row in range(first, last):
        if len(out) - used < len(positions):
            return row
        enter(row, events, predicates.rank, ranks)
        for position in positions:
            work[CANDIDATES] += 1
            begin = start[position]
            if holds(codes, begin, begin + size[position], ranks, predicates, truths, work):
                out[used] = position
                used += 1
        leave(row, events, ranks)
        ends[row] = used
    return last
