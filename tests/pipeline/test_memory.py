"""A memory decides as a gate does, also after it was written down; and it forgets what is silent for too long."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Notify
from tamis.language import Kind
from tamis.language.columns import Column
from tamis.matching.segments.ids import Ids
from tamis.notification import Gate
from tamis.notification.told import NO_KEY, PASSED, REFUSED
from tamis.pipeline.keytexts import key_texts, keys_of
from tamis.pipeline.memory import NEVER, Memory

CLAUSES = [
    Notify("p", radius=2, key="k"),
    Notify("p", relative=0.5, key="k"),
    Notify("p", factor=2, key="k"),
    Notify("p", radius=3, may=1, key="k"),
]
LAWS = np.array([0, 1, 2, 0])
RADII = np.array([2, 0.5, 2, 3])
NAMES = ["a", 1, 1.0, True, None, "b", [1]]

steps = st.tuples(
    st.integers(0, 3),
    st.integers(0, len(NAMES) - 1),
    st.one_of(st.integers(-1, 9).map(float), st.sampled_from([np.nan, np.inf])),
)


def numbered(memory: Memory, name: Any) -> int:
    column = Column(pa.array([name]))
    return NO_KEY if column.kind is Kind.OTHER else int(memory.keys(key_texts(column))[0])


def took(memory: Memory, rows: list[tuple[int, int, float]], times: list[int], ttl: int | None = None) -> list[int]:
    """Take rows in order, each an event with one pair."""
    ids = Ids.of(np.arange(4))
    numbers = memory.numbers(ids, np.arange(4), LAWS, RADII)[[row[0] for row in rows]]
    keys = np.array([numbered(memory, name) for name in NAMES])[[row[1] for row in rows]]
    out = np.zeros(len(rows), np.uint8)
    values = np.array([row[2] for row in rows])
    order = np.arange(len(rows))
    memory.step(order, np.arange(len(rows) + 1), np.array(times, np.int64), (numbers, keys, values), ttl, out)
    memory.check_invariants()
    return out.tolist()


@given(st.lists(st.lists(steps, min_size=1, max_size=30), max_size=6), st.sampled_from([1, 2, 100]))
def test_it_decides_as_a_gate_does(batches: list[list[tuple[int, int, float]]], kept: int) -> None:
    gate, memory, now = Gate(kept), Memory(pa.int64(), keys=kept), 0
    for number, clause in enumerate(CLAUSES):
        gate.add(number, clause)
    for rows in batches:
        refused = gate.refused
        passed = [gate.passes(id, {"p": value, "k": NAMES[key]}) for id, key, value in rows]
        out = took(memory, rows, list(range(now, now + len(rows))))
        now += len(rows)
        assert [each == PASSED for each in out] == passed
        assert out.count(REFUSED) == gate.refused - refused
        memory = Memory.decode(memory.encode(), kept)


@given(st.lists(st.lists(st.tuples(steps, st.integers(0, 3)), min_size=1, max_size=20), max_size=5), st.integers(0, 6))
def test_what_is_silent_for_longer_is_forgotten(batches: list[list[Any]], ttl: int) -> None:
    memory, now = Memory(pa.int64()), -5
    gates: dict[tuple[int, Any], tuple[Gate, int]] = {}
    for batch in batches:
        rows, times, wanted = [row for row, _ in batch], [], []
        for (id, key, value), pause in batch:
            now += pause
            times.append(now)
            name = NAMES[key]
            pair = id, (str(type(name)) if isinstance(name, bool) else "", None if isinstance(name, list) else name)
            gate, seen = gates.get(pair, (None, 0))
            if gate is None or seen < now - ttl:
                gate = Gate()
                gate.add(id, CLAUSES[id])
            refused = gate.refused
            wanted.append(gate.passes(id, {"p": value, "k": name}))
            if gate.refused == refused:
                gates[pair] = gate, now
        assert [each == PASSED for each in took(memory, rows, times, ttl)] == wanted
        memory.done = now
        state = memory.encode(ttl)
        memory = Memory.decode(state)
        assert (memory.rows()[2] >= now - ttl).all()


def test_what_another_clause_was_told_is_forgotten() -> None:
    memory, ids = Memory(pa.string()), Ids.of(["x", "y"])

    def told(since: list[int]) -> list[int]:
        numbers = memory.numbers(ids, np.array(since), LAWS[:2], RADII[:2])
        out = np.zeros(2, np.uint8)
        memory.step(
            np.array([0]),
            np.array([0, 2]),
            np.array([1]),
            (numbers, np.zeros(2, np.int64), np.array([5.0, 5.0])),
            None,
            out,
        )
        return out.tolist()

    assert told([1, 1]) == [PASSED, PASSED]
    assert told([1, 2]) == [0, PASSED]
    assert told([1, 2]) == [0, 0]
    memory.retain(np.array([1, -1]))
    memory = Memory.decode(memory.encode())
    assert memory.ids.arrow().to_pylist() == ["x"]
    assert told([1, 2]) == [0, PASSED]


def test_what_was_told_elsewhere_is_taken_over() -> None:
    memory = Memory(pa.string())
    keys = keys_of(pa.array(["A", "A", "7.0", None]), pa.array(["string", None, "number", None]))
    times = np.array([5, 3, 1, NEVER])
    memory.remember(pa.array(["x", "x", "x", "y"]), keys, np.array([10.0, 99.0, 20.0, 30.0]), times)
    memory = Memory.decode(memory.encode())
    ids, found, seen, told = memory.rows()
    rows = sorted(zip(ids.to_pylist(), found.to_pylist(), seen.tolist(), told.tolist(), strict=True), key=str)
    assert rows == [("x", "n7", 1, 20.0), ("x", "sA", 5, 10.0), ("y", None, NEVER, 30.0)]


def test_a_state_of_shards_by_subscription_can_be_read_and_is_told_apart() -> None:
    memory = Memory(pa.string(), 4)
    memory.remember(pa.array(["x"]), pa.array(["sA"], pa.large_string()), np.array([10.0]), np.array([5]))
    state = memory.encode()
    assert Memory.decode(state).shards == 4
    old = Memory.decode(state.replace(b"tamis told 2", b"tamis told 1", 1))
    assert old.shards == 0
    assert [each.to_pylist() for each in old.rows()[:2]] == [["x"], ["sA"]]


def test_other_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="no memory of notifications"):
        Memory.decode(b"nonsense")
