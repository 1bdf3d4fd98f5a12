"""The gate against the oracle of each subscription and key, and against a list of what was told last."""

import math
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES
from tamis.language import Notify
from tamis.notification import Gate, Watch
from tamis.notification.gate import SPARE_KEYS
from tamis.notification.law import Law, high, low
from tamis.notification.oracle import Oracle

CLAUSES = (
    Notify("price", radius=2, key="symbol"),
    Notify("price", radius=2),
    Notify("price", radius=5, may=1, key="symbol"),
    Notify("price", relative=0.125, key="symbol"),
    Notify("price", relative=1.5),
    Notify("price", factor=1.25, key="symbol"),
    Notify("price", factor=2, may=1.5),
    Notify("price", radius=1e-300, key="symbol"),
    Notify("other", radius=1, key="symbol"),
)
KEYS: tuple[Any, ...] = ("A", "B", 1, 1.0, True, None, "missing", ["no", "key"])
VALUES: tuple[Any, ...] = (*range(1, 12), 0.1, 0.2, 0.30000000000000004, 8.8, 1e300, 0, -3, 2**53, 2**53 + 1)
ODD: tuple[Any, ...] = (None, math.nan, math.inf, "5", True, [5], "missing", 10**400, Decimal("2.5"), np.int64(4))

keys = st.sampled_from(KEYS)
values = st.sampled_from(VALUES) | st.sampled_from(VALUES) | st.sampled_from(ODD) | st.floats(0.5, 20)
events = st.builds(
    lambda key, value: {
        name: each
        for name, each in (("symbol", key), ("price", value))
        if not (isinstance(each, str) and each == "missing")
    },
    keys,
    values,
)


class Judge:
    """The oracle of specs/003 F1, one for each subscription and key."""

    def __init__(self) -> None:
        self.clauses: dict[int, Notify] = {}
        self.oracles: dict[tuple[int, Any], Oracle] = {}

    def remove(self, id: int) -> None:
        del self.clauses[id]
        self.oracles = {pair: oracle for pair, oracle in self.oracles.items() if pair[0] != id}

    def passes(self, id: int, event: dict[str, Any]) -> bool | None:
        """Return None for what has to be refused."""
        clause = self.clauses[id]
        value = event.get(clause.attribute)
        key = event.get(clause.key) if clause.key else None
        if (
            isinstance(key, list)
            or isinstance(value, bool)
            or not isinstance(value, int | float | Decimal | np.integer)
        ):
            return None
        law: Law = "absolute" if clause.radius else "relative" if clause.relative else "factor"
        if value > 1e308 or not math.isfinite(value) or (law != "absolute" and value <= 0):
            return None
        pair = (id, (type(key) is bool, key))
        if pair not in self.oracles:
            self.oracles[pair] = Oracle(law=law, loose=True)
            self.oracles[pair].add(0, clause.may or clause.must, clause.must)
        self.oracles[pair].update(float(value))
        return len(self.oracles[pair].affected()) == 1


STEPS = st.lists(
    st.tuples(st.just("add"), st.integers(0, 3), st.sampled_from(CLAUSES))
    | st.tuples(st.just("remove"), st.integers(0, 3), st.none())
    | st.tuples(st.just("restart"), st.none(), st.none())
    | st.tuples(st.just("event"), st.none(), events)
    | st.tuples(st.just("event"), st.none(), events)
    | st.tuples(st.just("event"), st.none(), events),
    max_size=60,
)


@settings(max_examples=5 * EXAMPLES)
@given(STEPS)
def test_the_same_as_the_oracle_whatever_happens(steps: list[tuple[str, Any, Any]]) -> None:
    gate, judge, refused = Gate(), Judge(), 0
    for kind, id, detail in steps:
        if kind == "add" and id not in gate:
            gate.add(id, detail)
            judge.clauses[id] = detail
        elif kind == "remove" and id in gate:
            gate.remove(id)
            judge.remove(id)
        elif kind == "restart":
            gate = Gate.restore(gate.snapshot())
        elif kind == "event":
            for each in judge.clauses:
                told = judge.passes(each, detail)
                refused += told is None
                assert gate.passes(each, detail) is bool(told)
        gate.check_invariants()
        assert gate.refused == refused
        assert len(gate) == len(judge.clauses)


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(CLAUSES[:-1]), st.lists(st.floats(0.1, 100) | st.integers(1, 30), max_size=40))
def test_the_same_as_a_watch(clause: Notify, numbers: list[float]) -> None:
    gate, watch = Gate(), Watch()
    gate.add("alice", clause)
    watch.subscribe("alice", clause.radius, relative=clause.relative, factor=clause.factor, may=clause.may)
    for number in numbers:
        assert gate.passes("alice", {"price": number}) is (watch.update(number) == ["alice"])


class Memory:
    """What is told if only so many keys are remembered, in two dictionaries for each subscription."""

    def __init__(self, clauses: list[Notify], kept: int) -> None:
        self.clauses, self.kept = clauses, kept
        self.new: list[dict[int, float]] = [{} for _ in clauses]
        self.old: list[dict[int, float]] = [{} for _ in clauses]

    def passes(self, number: int, key: int, value: float) -> bool:
        clause, new, old = self.clauses[number], self.new[number], self.old[number]
        law = 0 if clause.radius else 1 if clause.relative else 2
        if not math.isfinite(value) or (law and value <= 0):
            return False
        centre = new.get(key, old.pop(key, None))
        far = centre is None or (
            value != centre and (value >= high(law, centre, clause.must) or value <= low(law, centre, clause.must))
        )
        new[key] = value if far else centre  # type: ignore[assignment] # not far from None
        if len(new) >= self.kept:
            self.new[number], self.old[number] = {}, new
        return far


@settings(max_examples=3 * EXAMPLES)
@given(
    kept=st.sampled_from([1, 2, 3, 1000]),
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(-1, 6), st.sampled_from([1.0, 2.0, 3.0, 4.5, 9.0, -1.0, math.nan])),
        max_size=120,
    ),
    cuts=st.lists(st.integers(0, 120), max_size=6),
)
def test_many_rows_are_the_same_as_one_by_one_and_after_every_crash(
    kept: int, rows: list[tuple[int, int, float]], cuts: list[int]
) -> None:
    """Crash and replay at any batch boundary: identical output (specs/003 §5, 13)."""
    clauses = [CLAUSES[0], CLAUSES[3], CLAUSES[5], CLAUSES[7]]
    gate, single = Gate(kept), Gate(kept)
    memory = Memory(clauses, kept)
    for id, clause in enumerate(clauses):
        assert gate.add(id, clause) == single.add(id, clause) == id
    names = ["a", "b", 3, 3.5, True, "f", "g"]
    answer: list[bool] = []
    bounds = sorted({0, *(min(cut, len(rows)) for cut in cuts), len(rows)})
    for begin, end in pairwise(bounds):
        numbers, codes, doubles = (list(column) for column in zip(*rows[begin:end], strict=True))
        before = gate.snapshot()
        first = gate.pass_many(numbers, codes, names, doubles).tolist()
        lost, gate = gate, Gate.restore(before)
        assert gate.pass_many(numbers, codes, names, doubles).tolist() == first
        assert gate.snapshot() == lost.snapshot()
        gate.check_invariants()
        answer += first
    for number, code, value in rows:
        event = {"price": value} | ({"symbol": names[code]} if code >= 0 else {})
        assert single.passes(number, event) is memory.passes(number, code, value)
    memory = Memory(clauses, kept)
    assert answer == [memory.passes(*row) for row in rows]
    assert gate.refused == single.refused
    assert gate.stats()["told"] == single.stats()["told"]


def test_memory_is_bounded_and_what_is_forgotten_is_told_again() -> None:
    small, large = Gate(keys=100), Gate()
    for gate in (small, large):
        gate.add("s", Notify("v", radius=2, key="k"))
    source = np.random.default_rng(5)
    names = [f"key {number}" for number in range(20_000)]
    extra = 0
    for begin in range(0, 60_000, 5_000):
        codes = np.arange(begin, begin + 5_000) % len(names)
        codes[::2] = np.arange(len(codes) // 2) % 40  # seen again and again, so never forgotten
        row = np.zeros(len(codes), np.int64)
        values = source.integers(0, 6, len(codes))
        told, all_told = small.pass_many(row, codes, names, values), large.pass_many(row, codes, names, values)
        assert (told == all_told)[codes < 40].all()
        assert told[codes >= 40].all()
        extra += int((told & ~all_told).sum())
        small.check_invariants()
        assert small.stats()["told"] <= 200
        assert small.stats()["bytes"] < 30_000
    assert extra > 0
    assert len(small._keys) <= 5_000 + 2 * 200 + SPARE_KEYS
    for number in range(10_000):
        small.passes("s", {"v": 1, "k": number})
        large.passes("s", {"v": "not a number", "k": f"never told {number}"})
    assert len(small._keys) <= 2 * 200 + SPARE_KEYS + 200
    assert len(large._keys) <= 3 * len(names) + SPARE_KEYS
    assert large.refused == 10_000


def test_a_subscription_that_comes_again_was_told_nothing() -> None:
    gate = Gate()
    gate.add("alice", Notify("v", radius=2))
    assert gate.passes("alice", {"v": 1})
    assert not gate.passes("alice", {"v": 2})
    gate.remove("alice")
    assert "alice" not in gate
    with pytest.raises(KeyError, match="there is no subscription 'alice'"):
        gate.passes("alice", {"v": 2})
    assert gate.add("bob", Notify("v", radius=2)) == 0
    assert gate.passes("bob", {"v": 2})
    assert Gate.restore(gate.snapshot()).number("bob") == 0


def test_nested_attributes_and_keys() -> None:
    gate = Gate()
    gate.add(1, Notify("quote.price", radius=2, key="`the symbol`"))
    assert gate.passes(1, {"quote": {"price": 5}, "the symbol": "A"})
    assert gate.passes(1, {"quote": {"price": 5}, "the symbol": "B"})
    assert not gate.passes(1, {"quote": {"price": 6}, "the symbol": "A"})
    assert not gate.passes(1, {"quote": 9, "the symbol": "A"})
    assert gate.refused == 1


def test_what_cannot_be_is_refused_and_changes_nothing() -> None:
    gate = Gate()
    gate.add("a", CLAUSES[0])
    gate.add("b", CLAUSES[0])
    gate.remove("b")
    before = gate.snapshot()
    with pytest.raises(ValueError, match="'a' is there already"):
        gate.add("a", CLAUSES[1])
    with pytest.raises(ValueError, match="a string or an integer"):
        gate.add(True, CLAUSES[1])
    with pytest.raises(ValueError, match="at least one"):
        Gate(keys=0)
    for numbers, codes, given_values, message in (
        ([0, 1], [0, 0], [1, 2], "row 1: no subscription has the number 1"),
        ([0, -1], [0, 0], [1, 2], "row 1: no subscription has the number -1"),
        ([0], [1], [1], "row 0: the code is 1, but there are 1 names"),
        ([0], [-2], [1], "row 0: the code is -2"),
        ([0], [0], [1, 2], "1 numbers, 1 codes and 2 values"),
        ([0], [0], [True], "a column of numbers is wanted, not bool"),
        ([0], [0], ["5"], "a column of numbers is wanted"),
        ([0.5], [0], [1], "a column of integers is wanted, not float64"),
    ):
        with pytest.raises(ValueError, match=r".") as caught:
            gate.pass_many(numbers, codes, ["k"], given_values)
        assert message in str(caught.value)
    assert gate.pass_many([], [], [], []).tolist() == []
    assert gate.snapshot() == before
    for broken in (b"", b"nonsense", before[:-3], Watch().snapshot()):
        with pytest.raises(ValueError, match="snapshot"):
            Gate.restore(broken)
