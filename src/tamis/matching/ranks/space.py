"""Rank space: the lines of all attributes, the predicates on them, and the numbers that kernels compare.

A *dimension* is an attribute, or a filter that no stretch of a line can express (`like '%x'`,
`array_contains`): a filter's dimension has the value true in the events that pass it and is absent from the others.
So every predicate is a union of stretches on one line, and a value meets it if the rank of its leaf
lies in one of them:

    rank[low] <= rank of the event's leaf < rank[high]     for one pair (low, high) of the predicate's leaves

Predicates are kept once, however many subscriptions share them.
"""

import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, count, repeat
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np

from tamis.language import And, Expression, Predicate
from tamis.language.names import parts_of
from tamis.language.normal import clauses
from tamis.language.ranges import compared
from tamis.language.values import Kind
from tamis.language.valueset import Filter, ValueSet, of_kind, says_no_more_than_filters
from tamis.matching.footprint import footprint
from tamis.matching.ranks.line import (
    FIXED,
    NONE,
    Key,
    Keys,
    Line,
    Merge,
    SortedCuts,
    Split,
    bounds,
    complement,
    points_by_kind,
    shape,
    stretches,
)
from tamis.matching.ranks.lists import Bytes, Ints, Lists, Longs, grown

Dimension: TypeAlias = str | Filter
MakeLine: TypeAlias = Callable[[Callable[[int], list[int]], Callable[[int], None]], Line]

#: What a filter's dimension must be.
PASSES: Final[ValueSet] = of_kind(Kind.BOOLEAN, compared("=", True))

_FIRST_SIZE = 1024
#: Fewer predicates than this are written one by one.
_FEW = 64


class Wanted:
    """Predicates that are wanted, each once: dimensions and cuts on them. They are numbered from zero."""

    def __init__(self) -> None:
        self.by_name: dict[Dimension, dict[Keys, int]] = {}
        self.count = 0
        #: Predicates of the language that were wanted already, as they are and negated.
        self.known: tuple[dict[Expression, int], dict[Expression, int]] = {}, {}
        self._points = points_by_kind()

    def number(self, name: Dimension, keys: Keys) -> int:
        """Want a predicate and return its number among the wanted ones."""
        known = self.by_name.get(name)
        if known is None:
            known = self.by_name[name] = {}
        number = known.setdefault(keys, self.count)
        if number == self.count:
            self.count += 1
        return number

    def spelled(self, predicate: Predicate, negated: bool = False) -> int | None:
        """Want a predicate of the language; None if it is not one of those that `bounds` knows."""
        known = self.known[negated]
        number = known.get(predicate)
        if number is None:
            keys = bounds(predicate, self._points)
            if keys is not None:
                number = self.number(predicate.attribute, complement(keys) if negated else keys)
                known[predicate] = number
        return number

    def conjunction(self, expression: Expression) -> list[int] | None:
        """Want all predicates of a conjunction; None if no event meets it."""
        numbers: dict[str, int] = {}
        for part in expression.operands if isinstance(expression, And) else (expression,):
            number = self.spelled(part) if isinstance(part, Predicate) and part.attribute not in numbers else None
            if number is None:
                break
            numbers[cast(Predicate, part).attribute] = number
        else:
            return list(numbers.values())
        disjuncts = clauses(expression, limit=1)
        if not disjuncts:
            return None
        (clause,) = disjuncts
        return [self.number(name, keys) for each in clause.items() for name, keys in conditions(*each)]


def conditions(attribute: str, values: ValueSet) -> Iterator[tuple[Dimension, Keys]]:
    """Yield the predicates that say together that an attribute has one of these values."""
    if not says_no_more_than_filters(values):
        yield attribute, _ends(values._replace(filters=()))
    for each in values.filters:
        yield each, _ends(PASSES)


def _ends(values: ValueSet) -> Keys:
    return tuple(chain.from_iterable(stretches(values)))


class _Starts(dict[Key, int]):
    """The leaves that begin at cuts; `NONE` where there is no such cut."""

    def __missing__(self, key: Key) -> int:
        return NONE


def _starting(line: Line, predicates: int) -> Callable[[Key], int]:
    """Return how to find the leaf at a cut: by the line, or if there is much to find, by a table of it."""
    keys = line.keys()
    return line.starting if predicates < len(keys) // 8 else _Starts(zip(keys, line.leaves(), strict=True)).__getitem__


class _Fresh(NamedTuple):
    """Predicates of a dimension that are new, as they are wanted, and the leaves at their bounds."""

    dimension: int
    wanted: dict[Keys, int]
    leaves: Ints


class Space:
    """All dimensions and predicates in use, and the arrays that describe them to kernels.

    By leaf: `rank` (its place on its line), `hits` (how many events fell on it) and `fixed` (it begins a kind of value,
    or stands behind the last one). By predicate: `dimension`, `shape` (what it looks like), `takes_null` (absent values
    meet it), and in `bounds` the list low, high, low, high, … of the leaves at which its stretches begin and end.
    Where nobody asks for shapes (`shaped` is false), they are not found out.
    """

    def __init__(self, make_line: MakeLine = SortedCuts, shaped: bool = True) -> None:
        self._make_line = make_line
        self._shaped = shaped
        self._free_leaves: list[int] = []
        self._leaf_count = 0
        self._rank: Ints = np.zeros(_FIRST_SIZE, np.int32)
        self.hits: Longs = np.zeros(_FIRST_SIZE, np.int64)
        self.fixed: Bytes = np.zeros(_FIRST_SIZE, np.int8)
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

    def acquire(self, expressions: Iterable[Expression]) -> tuple[list[list[int] | None], list[Split]]:
        """Use the predicates of conjunctions: their numbers, and the leaves that were split to make room for them.

        None stands for a conjunction that no event meets, so that there is nothing to store.
        """
        wanted = Wanted()
        rows = [wanted.conjunction(each) for each in expressions]
        uses = np.bincount(array("q", chain.from_iterable(filter(None, rows))), minlength=wanted.count)
        numbers, splits = self.take(wanted, uses.tolist())
        return [None if row is None else [numbers[each] for each in row] for row in rows], splits

    def take(self, wanted: Wanted, uses: Sequence[int]) -> tuple[list[int], list[Split]]:
        """Use predicates, each so many times: their numbers here, and the leaves that were split for them.

        What is used no times gets no number. Each line is cut once, however many predicates there are.
        """
        numbers = [NONE] * wanted.count
        splits: list[Split] = []
        by_name = wanted.by_name
        if 0 in uses:
            used = {name: {keys: n for keys, n in known.items() if uses[n]} for name, known in by_name.items()}
            by_name = {name: known for name, known in used.items() if known}
        fresh: list[_Fresh] = []
        for name, known in by_name.items():
            dimension = self._dimension(name)
            new = known
            if self._dimension_uses[dimension]:
                new = self._use(self.line(dimension), known, uses, numbers)
            if new:
                leaves, more = self._cut(dimension, new)
                fresh.append(_Fresh(dimension, new, leaves))
                splits += more
        if fresh:
            self._write(fresh, uses, numbers)
        return numbers, splits

    def _use(self, line: Line, known: dict[Keys, int], uses: Sequence[int], numbers: list[int]) -> dict[Keys, int]:
        """Use the predicates on a line that are there already, write down their numbers, and return the others."""
        new: dict[Keys, int] = {}
        starting = _starting(line, len(known))
        for keys, number in known.items():
            predicate = self._predicates.get(array("i", map(starting, keys)).tobytes())
            if predicate is None:
                new[keys] = number
            else:
                self.uses[predicate] += uses[number]
                numbers[number] = predicate
        return new

    def _new_predicates(self, uses: list[int]) -> list[int]:
        """Return numbers for new predicates, each of which is used so many times."""
        found = [self._free_predicates.pop() for _ in range(min(len(uses), len(self._free_predicates)))]
        for predicate, times in zip(found, uses, strict=False):
            self.uses[predicate] = times
        rest = uses[len(found) :]
        found.extend(range(self.top, self.top + len(rest)))
        self.uses += rest
        self.takes_null.extend(repeat(False, len(rest)))
        return found

    def _write(self, fresh: "list[_Fresh]", uses: Sequence[int], numbers: list[int]) -> None:
        """Write new predicates, and what their numbers are."""
        wanted = list(chain.from_iterable(each.wanted.values() for each in fresh))
        keys = list(chain.from_iterable(each.wanted for each in fresh))
        sizes = list(map(len, keys))
        leaves = np.concatenate([each.leaves for each in fresh])
        predicates = self._new_predicates([uses[number] for number in wanted])
        known, end = leaves.tobytes(), 0
        for number, predicate, size, cuts in zip(wanted, predicates, sizes, keys, strict=True):
            numbers[number] = predicate
            begin, end = end, end + size * leaves.itemsize
            self._predicates[known[begin:end]] = predicate
            self.takes_null[predicate] = cuts[0] == FIXED[Kind.NULL]
        self.dimension = grown(self.dimension, self.top)
        self.dimension[predicates] = np.repeat([each.dimension for each in fresh], [len(each.wanted) for each in fresh])
        self.shape = grown(self.shape, self.top)
        if self._shaped:
            self.shape[predicates] = list(map(shape, keys))
        if len(predicates) < _FEW:
            for predicate, end, size in zip(predicates, accumulate(sizes), sizes, strict=True):
                self.bounds.assign(predicate, leaves[end - size : end])
        else:
            self.bounds.extend(np.repeat(predicates, sizes), leaves)

    def find(self, wanted: Wanted) -> list[int]:
        """Return the numbers of predicates that are in use, and `NONE` for those that are not."""
        numbers = [NONE] * wanted.count
        for name, known in wanted.by_name.items():
            dimension = self._dimensions.get(name)
            if dimension is not None:
                line = self.line(dimension)
                for keys, number in known.items():
                    leaves = array("i", map(line.starting, keys))
                    numbers[number] = self._predicates.get(leaves.tobytes(), NONE)
        return numbers

    def _cut(self, dimension: int, fresh: Collection[Keys]) -> tuple[Ints, list[Split]]:
        """Cut a line for new predicates on it; return the leaves that begin at their cuts, one behind the other."""
        line = self.line(dimension)
        self._dimension_uses[dimension] += len(fresh)
        if len(fresh) < _FEW:
            keys = list(chain.from_iterable(fresh))
            splits = line.insert(keys)
            leaves = np.array([line.starting(key) for key in keys], np.int32)
        else:
            # Each different cut is looked up once.
            cuts: defaultdict[Key, int] = defaultdict(count().__next__)
            places = np.fromiter(map(cuts.__getitem__, chain.from_iterable(fresh)), np.int32)
            splits = line.insert(Counter(dict(zip(cuts, np.bincount(places).tolist(), strict=True))))
            leaves = np.fromiter(map(_starting(line, len(cuts)), cuts), np.int32, len(cuts))[places]
        if splits:
            self._moved[dimension] = line
            old_leaves, new_leaves = zip(*splits, strict=True)
            self.hits[list(new_leaves)] = self.hits[list(old_leaves)]
        return leaves, splits

    def release(self, predicates: Iterable[int]) -> list[Merge]:
        """Give predicates back: the leaves that went away because nothing needs them any more."""
        merges: list[Merge] = []
        for predicate in predicates:
            self.uses[predicate] -= 1
            if self.uses[predicate]:
                continue
            dimension = int(self.dimension[predicate])
            line = self.line(dimension)
            bounds = self.bounds[predicate]
            keys = line.keys()
            gone = line.remove([keys[at] for at in self.rank[bounds].tolist()])
            if gone:
                for kept, dropped in gone:
                    self.hits[kept] += self.hits[dropped]
                self._moved[dimension] = line
                merges += gone
            del self._predicates[bounds.tobytes()]
            self._free_predicates.append(predicate)
            self.bounds.clear(predicate)
            self._drop_dimension(dimension)
        return merges

    def leaves_of(self, predicate: int) -> Ints:
        """Return the leaves that a predicate covers, from left to right."""
        leaves = np.asarray(self.line(int(self.dimension[predicate])).leaves(), np.int32)
        bounds = self.rank[self.bounds[predicate]]
        return np.concatenate([leaves[low:high] for low, high in zip(bounds[::2], bounds[1::2], strict=True)])

    def predicates_on(self, dimension: int) -> int:
        """Return how many predicates a dimension has."""
        return self._dimension_uses[dimension]

    # --- dimensions ---------------------------------------------------------------------------------

    def line(self, dimension: int) -> Line:
        """Return the line of a dimension that is in use."""
        line = self.lines[dimension]
        assert line is not None
        return line

    def _dimension(self, name: Dimension) -> int:
        dimension = self._dimensions.get(name)
        if dimension is not None:
            return dimension
        line = self._make_line(self._allocate, self._free_leaves.append)
        self.fixed[line.leaves()] = True
        if self._free_dimensions:
            dimension = self._free_dimensions.pop()
            self.lines[dimension], self._names[dimension] = line, name
        else:
            dimension = len(self.lines)
            self.lines.append(line)
            self._names.append(name)
            self._dimension_uses.append(0)
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
        leaves = self.line(dimension).leaves()
        self.fixed[leaves] = False
        self._free_leaves.extend(leaves)
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
        self.fixed = grown(self.fixed, self._leaf_count)
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
        """How much memory it takes: the arrays, the lines and the tables."""
        by_leaf = self._rank.nbytes + self.hits.nbytes + self.fixed.nbytes
        arrays = by_leaf + self.dimension.nbytes + self.shape.nbytes + self.bounds.bytes
        tables = footprint(self._dimensions, self.by_first, self.filters, self._free_leaves, self._free_predicates)
        lists = sum(map(sys.getsizeof, (self._names, self.lines, self.uses, self.takes_null, self._predicates)))
        keys = sum(map(sys.getsizeof, self._predicates))
        numbers = len(self._predicates) * sys.getsizeof(self.top)
        lines = sum(line.bytes for line in self.lines if line is not None)
        return arrays + tables + lists + keys + numbers + lines

    def check_invariants(self) -> None:
        """Raise `AssertionError` if leaves, lines and predicates do not fit together."""
        taken: list[int] = list(self._free_leaves)
        for line in self.lines:
            if line is not None:
                leaves = line.leaves()
                taken += leaves
                assert self.rank[leaves].tolist() == list(range(len(leaves)))
                assert [key for key, leaf in zip(line.keys(), leaves, strict=True) if self.fixed[leaf]] == list(FIXED)
        assert sorted(taken) == list(range(self._leaf_count))
        for known, predicate in self._predicates.items():
            bounds = self.bounds[predicate]
            assert bounds.tobytes() == known
            assert self.uses[predicate] > 0
            leaves = self.line(int(self.dimension[predicate])).leaves()
            assert set(bounds.tolist()) <= set(leaves)
            assert (np.diff(self.rank[bounds]) > 0).all()
        assert len(self._predicates) + len(self._free_predicates) == len(self.uses)
        self.bounds.check_invariants()
