"""Rank space: the lines of all attributes, the predicates on them, and the numbers that kernels compare.

A *dimension* is an attribute, or a filter that no stretch of a line can express (`like '%x'`,
`array_contains`): a filter's dimension has the value true in the events that pass it and is absent from the others.
So every predicate is a union of stretches on one line, and a value meets it if the rank of its leaf
lies in one of them:

    rank[low] <= rank of the event's leaf < rank[high]     for one pair (low, high) of the predicate's leaves

Predicates are kept once, however many subscriptions share them.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from tamis.language import And, Expression, In, Predicate
from tamis.language.names import parts_of
from tamis.language.normal import Clause, clauses
from tamis.language.ranges import compared
from tamis.language.values import Kind
from tamis.language.valueset import Filter, ValueSet, of_kind, says_no_more_than_filters
from tamis.matching.ranks.line import Key, Line, Merge, SortedCuts, Split, bounds, shape, stretches
from tamis.matching.ranks.lists import Bytes, Ints, Lists, Longs, grown

Dimension: TypeAlias = str | Filter
MakeLine: TypeAlias = Callable[[Callable[[int], list[int]], Callable[[int], None]], Line]

#: What a filter's dimension must be.
PASSES: Final[ValueSet] = of_kind(Kind.BOOLEAN, compared("=", True))

_FIRST_SIZE = 1024
#: How many predicates of the language are remembered.
_KNOWN_SPELLINGS = 1 << 16


def _wanted(clause: Clause) -> Iterator[tuple[Dimension, list[Key]]]:
    for attribute, values in clause.items():
        if not says_no_more_than_filters(values):
            yield attribute, _ends(values._replace(filters=()))
        for each in values.filters:
            yield each, _ends(PASSES)


def _ends(values: ValueSet) -> list[Key]:
    return [key for piece in stretches(values) for key in piece]


class Space:
    """All dimensions and predicates in use, and the arrays that describe them to kernels.

    By leaf: `rank` (its place on its line) and `hits` (how many events fell on it). By predicate: `dimension`,
    `shape` (what it looks like), `takes_null` (absent values meet it), and in `bounds` the list low, high, low, high, …
    of the leaves at which its stretches begin and end.
    """

    def __init__(self, make_line: MakeLine = SortedCuts) -> None:
        self._make_line = make_line
        self._free_leaves: list[int] = []
        self._leaf_count = 0
        self._rank: Ints = np.zeros(_FIRST_SIZE, np.int32)
        self.hits: Longs = np.zeros(_FIRST_SIZE, np.int64)
        #: Lines whose leaves have got other ranks since these were written down.
        self._moved: dict[int, Line] = {}

        self._dimensions: dict[Dimension, int] = {}
        self._names: list[Dimension] = []
        self._free_dimensions: list[int] = []
        self._dimension_uses: list[int] = []
        self.lines: list[Line | None] = []
        #: First part of an attribute's name -> its dimensions, with the parts that follow.
        self.by_first: dict[str, dict[int, tuple[str, ...]]] = {}
        #: Dimension of an attribute -> the filters on it, with their dimensions.
        self.filters: dict[str, dict[int, Filter]] = {}

        #: A predicate is known by the leaves at its bounds, which live as long as it does.
        self._predicates: dict[bytes, int] = {}
        self._free_predicates: list[int] = []
        #: By predicate: how many subscriptions have it.
        self.uses: list[int] = []
        #: Some predicates of the language and what they are here, so that they need not be taken apart again.
        self._spelled: dict[Predicate, int] = {}
        self._spelling: dict[int, Predicate] = {}
        self.dimension: Ints = np.zeros(_FIRST_SIZE, np.int32)
        self.shape: Bytes = np.zeros(_FIRST_SIZE, np.int8)
        self.takes_null: list[bool] = []
        self.bounds = Lists()

    @property
    def dimensions(self) -> int:
        """An upper bound for the numbers of dimensions: how long a kernel's row of ranks must be."""
        return len(self.lines)

    @property
    def leaves(self) -> int:
        """An upper bound for the numbers of leaves."""
        return self._leaf_count

    @property
    def top(self) -> int:
        """An upper bound for the numbers of predicates."""
        return len(self.uses)

    @property
    def predicates(self) -> int:
        """How many different predicates there are."""
        return len(self._predicates)

    # --- predicates ---------------------------------------------------------------------------------

    def acquire(self, expression: Expression) -> tuple[list[int], list[Split]] | None:
        """Use the predicates of a conjunction: their numbers, and the leaves that were split to make room for them.

        None if no event meets it, so that there is nothing to store.
        """
        if len(self._spelled) > _KNOWN_SPELLINGS:
            self._spelled.clear()
            self._spelling.clear()
        splits: list[Split] = []
        direct = self._direct(expression)
        if direct is not None:
            return [self._acquire_direct(*each, splits) for each in direct], splits
        disjuncts = clauses(expression, limit=1)
        if not disjuncts:
            return None
        return [self._acquire(*each, splits) for each in _wanted(disjuncts[0])], splits

    def _direct(self, expression: Expression) -> list[tuple[Predicate, list[Key] | None]] | None:
        """Return the predicates of a conjunction that is in normal form already, as most are; None if it is not.

        Where its stretches begin and end is only worked out for predicates that are not known yet.
        """
        found: dict[str, tuple[Predicate, list[Key] | None]] = {}
        for part in expression.operands if isinstance(expression, And) else (expression,):
            if not isinstance(part, Predicate) or part.attribute in found:
                return None
            keys = None
            if isinstance(part, In) or part not in self._spelled:
                keys = bounds(part)
                if keys is None:
                    return None
            found[part.attribute] = part, keys
        return list(found.values())

    def _acquire_direct(self, spelled: Predicate, keys: list[Key] | None, splits: list[Split]) -> int:
        if keys is None:
            predicate = self._spelled[spelled]
            self.uses[predicate] += 1
            return predicate
        predicate = self._acquire(spelled.attribute, keys, splits)
        if not isinstance(spelled, In) and predicate not in self._spelling:
            self._spelled[spelled] = predicate
            self._spelling[predicate] = spelled
        return predicate

    def _acquire(self, name: Dimension, keys: list[Key], splits: list[Split]) -> int:
        dimension = self._use_dimension(name)
        line = self._line(dimension)
        new = line.insert(keys)
        leaves = [line.starting(key) for key in keys]
        known = array("i", leaves).tobytes()
        predicate = self._predicates.get(known)
        if predicate is not None:
            line.remove(keys)
            self._dimension_uses[dimension] -= 1
            self.uses[predicate] += 1
            return predicate
        if new:
            self._moved[dimension] = line
            for old, leaf in new:
                self.hits[leaf] = self.hits[old]
            splits += new
        takes_null = keys[0] == (int(Kind.NULL),)
        if self._free_predicates:
            predicate = self._free_predicates.pop()
            self.uses[predicate], self.takes_null[predicate] = 1, takes_null
        else:
            predicate = len(self.uses)
            self.uses.append(1)
            self.takes_null.append(takes_null)
            self.dimension = grown(self.dimension, predicate + 1)
            self.shape = grown(self.shape, predicate + 1)
        self._predicates[known] = predicate
        self.dimension[predicate] = dimension
        self.shape[predicate] = shape(keys)
        self.bounds.assign(predicate, leaves)
        return predicate

    def release(self, predicates: Iterable[int]) -> list[Merge]:
        """Give predicates back: the leaves that went away because nothing needs them any more."""
        merges: list[Merge] = []
        for predicate in predicates:
            self.uses[predicate] -= 1
            if self.uses[predicate]:
                continue
            dimension = int(self.dimension[predicate])
            line = self._line(dimension)
            bounds = self.bounds[predicate]
            keys = line.keys()
            gone = line.remove([keys[at] for at in self.rank[bounds].tolist()])
            if gone:
                for kept, dropped in gone:
                    self.hits[kept] += self.hits[dropped]
                self._moved[dimension] = line
                merges += gone
            del self._predicates[bounds.tobytes()]
            spelled = self._spelling.pop(predicate, None)
            if spelled is not None:
                del self._spelled[spelled]
            self._free_predicates.append(predicate)
            self.bounds.clear(predicate)
            self._drop_dimension(dimension)
        return merges

    def leaves_of(self, predicate: int) -> Ints:
        """Return the leaves that a predicate covers, from left to right."""
        leaves = np.array(self._line(int(self.dimension[predicate])).leaves(), np.int32)
        bounds = self.rank[self.bounds[predicate]]
        return np.concatenate([leaves[low:high] for low, high in zip(bounds[::2], bounds[1::2], strict=True)])

    # --- dimensions ---------------------------------------------------------------------------------

    def _line(self, dimension: int) -> Line:
        line = self.lines[dimension]
        assert line is not None
        return line

    def _use_dimension(self, name: Dimension) -> int:
        dimension = self._dimensions.get(name)
        if dimension is not None:
            self._dimension_uses[dimension] += 1
            return dimension
        line = self._make_line(self._allocate, self._free_leaves.append)
        if self._free_dimensions:
            dimension = self._free_dimensions.pop()
            self.lines[dimension], self._dimension_uses[dimension] = line, 1
            self._names[dimension] = name
        else:
            dimension = len(self.lines)
            self.lines.append(line)
            self._names.append(name)
            self._dimension_uses.append(1)
        self._dimensions[name] = dimension
        self._moved[dimension] = line
        if isinstance(name, str):
            first, *rest = parts_of(name)
            self.by_first.setdefault(first, {})[dimension] = tuple(rest)
        else:
            self.filters.setdefault(parts_of(name.attribute)[0], {})[dimension] = name
        return dimension

    def _drop_dimension(self, dimension: int) -> None:
        self._dimension_uses[dimension] -= 1
        if self._dimension_uses[dimension]:
            return
        name = self._names[dimension]
        self._free_leaves.extend(self._line(dimension).leaves())
        self.lines[dimension] = None
        self._moved.pop(dimension, None)
        self._free_dimensions.append(dimension)
        del self._dimensions[name]
        table: dict[str, dict[int, Any]] = self.by_first if isinstance(name, str) else self.filters
        first = parts_of(name if isinstance(name, str) else name.attribute)[0]
        del table[first][dimension]
        if not table[first]:
            del table[first]

    # --- leaves -------------------------------------------------------------------------------------

    def _allocate(self, count: int) -> list[int]:
        found = [self._free_leaves.pop() for _ in range(min(count, len(self._free_leaves)))]
        self.hits[found] = 0
        fresh = count - len(found)
        found.extend(range(self._leaf_count, self._leaf_count + fresh))
        self._leaf_count += fresh
        self._rank = grown(self._rank, self._leaf_count)
        self.hits = grown(self.hits, self._leaf_count)
        return found

    @property
    def rank(self) -> Ints:
        """By leaf: its place on its line."""
        self.settle()
        return self._rank

    def settle(self) -> None:
        """Write down the ranks of leaves that have moved. Threads may read at the same time only after that."""
        for line in self._moved.values():
            leaves = line.leaves()
            self._rank[leaves] = np.arange(len(leaves), dtype=np.int32)
        self._moved.clear()

    # --- figures ------------------------------------------------------------------------------------

    @property
    def bytes(self) -> int:
        """How much memory the arrays take; the lines themselves are counted by `footprint`."""
        return self._rank.nbytes + self.hits.nbytes + self.dimension.nbytes + self.bounds.bytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if leaves, lines and predicates do not fit together."""
        taken: list[int] = list(self._free_leaves)
        for line in self.lines:
            if line is not None:
                leaves = line.leaves()
                taken += leaves
                assert self.rank[leaves].tolist() == list(range(len(leaves)))
        assert sorted(taken) == list(range(self._leaf_count))
        for known, predicate in self._predicates.items():
            bounds = self.bounds[predicate]
            assert bounds.tobytes() == known
            assert self.uses[predicate] > 0
            leaves = self._line(int(self.dimension[predicate])).leaves()
            assert set(bounds.tolist()) <= set(leaves)
            assert (np.diff(self.rank[bounds]) > 0).all()
        assert {predicate: spelled for spelled, predicate in self._spelled.items()} == self._spelling
        assert all(self.uses[predicate] > 0 for predicate in self._spelling)
        assert len(self._predicates) + len(self._free_predicates) == len(self.uses)
        self.bounds.check_invariants()
