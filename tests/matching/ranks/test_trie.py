"""`ElementTrie` and `SortedCuts` are each other's oracle."""

import datetime as dt
import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from support.strategies import POOLS, conjunctions, events
from tamis.language import Expression, parse
from tamis.language.ranges import between, compared
from tamis.language.values import Kind
from tamis.language.valueset import of_kind
from tamis.matching.algorithms.counting import Counting
from tamis.matching.ranks.line import FIXED, NONE, Key, Line, SortedCuts, stretches
from tamis.matching.ranks.space import MakeLine, Space
from tamis.matching.ranks.trie import ElementTrie

BACKENDS: list[MakeLine] = [SortedCuts, ElementTrie]

_EXTRA: dict[Kind, tuple[Any, ...]] = {
    Kind.NUMBER: (
        -0.0,
        -1.5,
        -2.5,
        -1e300,
        2.0**53,
        5e-324,
        -5e-324,
        math.inf,
        -math.inf,
        2.0**63,
        10**400,
        -(10**400),
    ),
    Kind.STRING: ("\0", "a\0", "a\0b", "aa", "ab\0", "\U0010ffff"),
    Kind.TIMESTAMP: (dt.datetime.max.replace(tzinfo=dt.UTC), dt.datetime.min.replace(tzinfo=dt.UTC)),
    Kind.DATE: (dt.date.min, dt.date.max),
}
VALUES = {kind: (*pool, *_EXTRA.get(kind, ())) for kind, pool in POOLS.items()}


def around(kind: Kind, value: Any) -> list[Any]:
    """Return a value and what lies just below and above it."""
    if kind is Kind.NUMBER and abs(value) < 2**1000:
        whole = [math.floor(value), math.floor(value) + 1]
        return [value, math.nextafter(value, -math.inf), math.nextafter(value, math.inf), *whole]
    if kind is Kind.STRING:
        return [value, value + "\0", value[:-1], value[:-1] + "\0"]
    day, least, most = dt.timedelta(days=1), dt.timedelta(microseconds=1), dt.timedelta(days=2)
    if kind is Kind.TIMESTAMP and dt.datetime.min.replace(tzinfo=dt.UTC) + most < value < VALUES[kind][-2] - most:
        return [value, value - least, value + least, value.astimezone(dt.timezone(dt.timedelta(hours=-7)))]
    if kind is Kind.DATE and dt.date.min < value < dt.date.max:
        return [value, value - day, value + day]
    return [value]


PROBES = [(kind, near) for kind, pool in VALUES.items() for value in pool for near in around(kind, value)]
PROBES += [(Kind.NULL, None), (Kind.OTHER, [1])]

_cuts = st.sampled_from(
    [(int(kind), value, side) for kind, pool in VALUES.items() for value in pool for side in (0, 1)]
)
keys = st.lists(st.sampled_from(FIXED) | _cuts, max_size=6)


class Numbers:
    """Gives leaves numbers, the ones given back first, and knows which are taken."""

    def __init__(self) -> None:
        self.taken: set[int] = set()
        self._free: list[int] = []

    def allocate(self, count: int) -> list[int]:
        found = []
        for _ in range(count):
            leaf = self._free.pop() if self._free else len(self.taken)
            self.taken.add(leaf)
            found.append(leaf)
        return found

    def release(self, leaf: int) -> None:
        self.taken.remove(leaf)
        self._free.append(leaf)


def made(make: MakeLine) -> tuple[Line, Numbers]:
    numbers = Numbers()
    return make(numbers.allocate, numbers.release), numbers


def described(line: Line) -> tuple[list[Key], list[int]]:
    """Return a line's cuts and the ranks of all probes: its partition, whatever the leaves are called."""
    ranks = {leaf: rank for rank, leaf in enumerate(line.leaves())}
    return list(line.keys()), [ranks[line.locate(kind, value)] for kind, value in PROBES]


class History(RuleBasedStateMachine):
    """Predicates come and go on both backends; beside each a model that copies and drops what leaves hold."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = [made(make) for make in BACKENDS]
        #: By backend and leaf: where the leaf begins, kept right by splits and merges alone.
        self.begins = [dict(zip(line.leaves(), FIXED, strict=True)) for line, _ in self.lines]
        self.inserted: list[list[Key]] = []

    @rule(keys=keys)
    def insert(self, keys: list[Key]) -> None:
        self.inserted.append(keys)
        found = []
        for (line, _), begins in zip(self.lines, self.begins, strict=True):
            splits = line.insert(keys)
            ranks = {leaf: rank for rank, leaf in enumerate(line.leaves())}
            cuts = line.keys()
            assert [ranks[split.new] for split in splits] == sorted(ranks[split.new] for split in splits)
            for old, new in splits:
                assert ranks[old] < ranks[new]
                begins[new] = cuts[ranks[new]]
            found.append([(ranks[old], ranks[new]) for old, new in splits])
        assert found[0] == found[1]

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if not self.inserted:
            return
        keys = self.inserted.pop(data.draw(st.integers(0, len(self.inserted) - 1)))
        found = []
        for (line, _), begins in zip(self.lines, self.begins, strict=True):
            ranks = {leaf: rank for rank, leaf in enumerate(line.leaves())}
            merges = line.remove(keys)
            for kept, dropped in merges:
                assert ranks[kept] < ranks[dropped]
                del begins[dropped]
            found.append([(ranks[kept], ranks[dropped]) for kept, dropped in merges])
        assert found[0] == found[1]

    @invariant()
    def both_say_the_same(self) -> None:
        (cuts, _), (trie, _) = self.lines
        assert isinstance(trie, ElementTrie)
        trie.check_invariants()
        assert described(cuts) == described(trie)
        for (line, numbers), begins in zip(self.lines, self.begins, strict=True):
            leaves, keys = list(line.leaves()), line.keys()
            assert set(leaves) == numbers.taken
            assert [begins[leaf] for leaf in leaves] == keys
            assert [line.starting(key) for key in keys] == leaves

    @invariant()
    def nothing_but_the_survivors_counts(self) -> None:
        for make, (line, _) in zip(BACKENDS, self.lines, strict=True):
            rebuilt, _ = made(make)
            for each in self.inserted:
                rebuilt.insert(each)
            assert described(rebuilt) == described(line)


def test_random_histories() -> None:
    run_state_machine_as_test(History, settings=settings(max_examples=60, stateful_step_count=20, deadline=None))


@pytest.mark.parametrize("make", BACKENDS)
@given(sets=st.lists(keys, max_size=4))
def test_a_line_is_as_new_when_all_has_been_removed(make: MakeLine, sets: list[list[Key]]) -> None:
    line, _ = made(make)
    for each in sets:
        line.insert(each)
    for each in sets:
        line.remove(each)
    assert described(line) == described(made(make)[0])
    assert line.keys() == list(FIXED)


@pytest.mark.parametrize("make", BACKENDS)
def test_the_example_of_the_thesis(make: MakeLine) -> None:
    """[20, 60] and [30, 80] on 1 to 100, and what remains without the second."""
    line, _ = made(make)
    keys = [
        [key for piece in stretches(of_kind(Kind.NUMBER, between(low, high))) for key in piece]
        for low, high in ((20, 60), (30, 80))
    ]
    for each in keys:
        line.insert(each)
    covered: Counter[int] = Counter()
    leaves = line.leaves()
    for low, high in keys:
        covered.update(leaves[leaves.index(line.starting(low)) : leaves.index(line.starting(high))])

    def spaces() -> list[tuple[list[int], int]]:
        by_leaf: dict[int, list[int]] = {}
        for value in range(1, 101):
            by_leaf.setdefault(line.locate(Kind.NUMBER, value), []).append(value)
        return [([values[0], values[-1]], covered[leaf]) for leaf, values in by_leaf.items()]

    assert spaces() == [([1, 19], 0), ([20, 29], 1), ([30, 60], 2), ([61, 80], 1), ([81, 100], 0)]
    line.remove(keys[1])
    assert [ends for ends, _ in spaces()] == [[1, 19], [20, 60], [61, 100]]
    assert line.locate(Kind.NUMBER, 60) != line.locate(Kind.NUMBER, 60.000001)
    assert line.locate(Kind.NUMBER, 19.999999) != line.locate(Kind.NUMBER, 20)


@pytest.mark.parametrize("make", BACKENDS)
def test_a_cut_stays_as_long_as_a_predicate_needs_it(make: MakeLine) -> None:
    line, _ = made(make)
    key = (int(Kind.STRING), "a", 0)
    assert len(line.insert([key])) == 1
    assert line.insert([key]) == []
    assert line.remove([key]) == []
    assert line.keys() == sorted([*FIXED, key])
    assert len(line.remove([key])) == 1
    with pytest.raises(KeyError):
        line.remove([key])
    assert len(line.insert(Counter({key: 2}))) == 1
    assert line.remove([key]) == []
    assert len(line.remove([key])) == 1


@pytest.mark.parametrize("make", BACKENDS)
def test_a_cut_that_is_not_there_begins_nothing(make: MakeLine) -> None:
    line, _ = made(make)
    line.insert([(int(Kind.NUMBER), 5, 0)])
    for missing in ((int(Kind.NUMBER), 5, 1), (int(Kind.NUMBER), 6, 0)):
        assert line.starting(missing) == NONE


def test_a_stored_string_does_not_hide_those_that_it_begins() -> None:
    line, _ = made(ElementTrie)
    for value in ("", "a", "ab"):
        line.insert([key for piece in stretches(of_kind(Kind.STRING, compared("=", value))) for key in piece])
    found = [line.locate(Kind.STRING, value) for value in ("", "\0", "a", "a\0", "aa", "ab", "ab\0", "b")]
    assert found[3] == found[4]
    assert found[6] == found[7]
    assert len(set(found)) == 6


# --- an engine on a space of tries ----------------------------------------------------------------------


def on_tries() -> Counting:
    engine = Counting()
    engine.space = Space(make_line=ElementTrie)
    return engine


@settings(max_examples=60, deadline=None)
@given(
    conditions=st.lists(conjunctions(), min_size=1, max_size=8),
    removed=st.sets(st.integers(0, 7)),
    rows=st.lists(events(), min_size=1, max_size=4),
)
def test_an_engine_works_on_a_space_of_tries(
    conditions: list[Expression], removed: set[int], rows: list[dict[str, Any]]
) -> None:
    engine = on_tries()
    alive = dict(enumerate(conditions))
    engine.add_many(list(alive), list(alive.values()))

    def check() -> None:
        engine.check_invariants()
        for row in rows:
            assert sorted(engine.match(row)) == [each for each, condition in alive.items() if condition.matches(row)]

    check()
    for position in removed & alive.keys():
        engine.remove(position)
        del alive[position]
    check()
    for position in removed & set(range(len(conditions))):
        engine.add(position, conditions[position])
        alive[position] = conditions[position]
    alive = dict(sorted(alive.items()))
    check()


def test_batches_are_matched_on_a_space_of_tries() -> None:
    engine = on_tries()
    texts = ["s like 'a%'", "s = 'ab' and n >= 2", "n <> 3", "n between -1.5 and 2", "s in ('', 'b')"]
    for position, text in enumerate(texts):
        engine.add(position, parse(text))
    rows = [{"s": s, "n": n} for s in ("", "a", "ab", "b", None) for n in (-2.0, -1.5, 2.0, 3.0, None)]
    schema = pa.schema([("s", pa.string()), ("n", pa.float64())])
    offsets, positions = engine.match_batch(pa.RecordBatch.from_pylist(rows, schema))
    found = [sorted(each.tolist()) for each in np.split(positions, offsets[1:-1])]
    assert found == [[number for number, text in enumerate(texts) if parse(text).matches(row)] for row in rows]
