"""One suite for every registered engine: random histories against the reference meaning of the language."""

import os
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import tamis
from support.strategies import conjunctions, events, expressions
from tamis.language import Expression

ENGINES = [*tamis.engines(), "auto"]
EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "25"))

#: Columns that fit many of the conditions of `support.strategies`.
_COLUMNS = {
    "a": (pa.int64(), st.sampled_from([0, 1, 2, 3, 2**53, 2**53 + 1, None])),
    "b": (pa.string(), st.sampled_from(["", "a", "ab", "abc", "😀", None])),
    "c": (pa.list_(pa.string()), st.none() | st.lists(st.sampled_from(["a", "ab", None]), max_size=2)),
    "odd name": (pa.bool_(), st.sampled_from([True, False, None])),
}


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    rows = draw(st.integers(0, 6))
    columns = {
        name: pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), kind)
        for name, (kind, values) in _COLUMNS.items()
    }
    numbers = draw(st.lists(st.sampled_from([0.5, 1.5, float("nan"), None]), min_size=rows, max_size=rows))
    nested = pa.StructArray.from_arrays([pa.array(numbers, pa.float64())], ["x"])
    return pa.RecordBatch.from_pydict({**columns, "n": nested, "unknown": pa.array([1] * rows, pa.int64())})


def histories(engine: str) -> type[RuleBasedStateMachine]:
    arbitrary = engine == "auto" or tamis.engines()[engine].arbitrary
    conditions = expressions() if arbitrary else conjunctions()
    ids = st.integers(0, 12)

    class History(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.index = tamis.Index(engine=engine)
            self.oracle: dict[int, Expression] = {}

        @rule(id=ids, condition=conditions, as_text=st.booleans())
        def add(self, id: int, condition: Expression, as_text: bool) -> None:
            given = str(condition) if as_text else condition
            if id in self.oracle:
                with pytest.raises(tamis.SubscriptionError, match="already"):
                    self.index.add(id, given)
                return
            self.index.add(id, given)
            self.oracle[id] = condition

        @rule(ids=st.lists(ids, max_size=5), conditions=st.lists(conditions, min_size=5, max_size=5))
        def add_many(self, ids: list[int], conditions: list[Expression]) -> None:
            pairs = dict(zip(ids, conditions, strict=False))
            if len(pairs) < len(ids) or pairs.keys() & self.oracle.keys():
                with pytest.raises(tamis.SubscriptionError):
                    self.index.add_many(ids, conditions[: len(ids)])
                return
            self.index.add_many(list(pairs), list(pairs.values()))
            self.oracle |= pairs

        @rule(id=ids)
        def remove(self, id: int) -> None:
            if id in self.oracle:
                self.index.remove(id)
                del self.oracle[id]
            else:
                with pytest.raises(KeyError):
                    self.index.remove(id)

        @rule(id=ids, condition=conditions)
        def replace(self, id: int, condition: Expression) -> None:
            if id in self.oracle:
                self.index.replace(id, condition)
                self.oracle[id] = condition
            else:
                with pytest.raises(KeyError):
                    self.index.replace(id, condition)

        @rule(event=events())
        def match(self, event: dict[str, Any]) -> None:
            found = self.index.match(event)
            assert sorted(found) == [id for id in sorted(self.oracle) if self.oracle[id].matches(event)]

        @rule(batch=batches())
        def match_batch(self, batch: pa.RecordBatch) -> None:
            matches = self.index.match_batch(batch)
            rows = batch.to_pylist()
            assert len(matches.offsets) == len(rows) + 1
            for number, row in enumerate(rows):
                assert sorted(matches.row(number)) == [id for id in sorted(self.oracle) if self.oracle[id].matches(row)]

        @precondition(lambda self: self.oracle)
        @rule(data=st.data(), event=events())
        def explain(self, data: st.DataObject, event: dict[str, Any]) -> None:
            id = data.draw(st.sampled_from(sorted(self.oracle)))
            assert self.index.explain(id, event).matched == (id in self.index.match(event))

        @invariant()
        def same_subscriptions(self) -> None:
            assert len(self.index) == len(self.oracle)
            assert set(self.index) == set(self.oracle)
            assert all((id in self.index) == (id in self.oracle) for id in range(13))
            self.index.check_invariants()

    return History


@pytest.mark.parametrize("engine", ENGINES)
def test_random_histories(engine: str) -> None:
    run_state_machine_as_test(
        histories(engine), settings=settings(max_examples=EXAMPLES, stateful_step_count=40, deadline=None)
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_index(engine: str) -> None:
    index = tamis.Index(engine=engine)
    assert index.match({"a": 1}) == []
    assert index.match({}) == []
    matches = index.match_batch(pa.table({"a": [1, 2]}))
    assert matches.offsets.tolist() == [0, 0, 0]
    assert len(matches) == 0
    assert matches.to_table().num_rows == 0
    index.add("s", "a = 1")
    index.remove("s")
    assert index.match({"a": 1}) == []
    assert index.stats()["subscriptions"] == 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        "a > 5 and a < 3",
        "a between 3 and 2",
        "a = 1 and a = 'x'",
        "a in (null)",
        "false",
        "true",
        "a is null",
        "a is null and b is null",
        "a not in (1, 2) and a <> 3",
        "a > 1 and a < 9 and a <> 5 and a not between 6 and 7",
        "s like '%x' and s like 'a%' and s <> 'ax'",
        "not array_contains(tags, 'x') and array_contains(tags, 'y')",
        "a.b.c >= 1 and a.b.d is not null",
    ],
)
def test_every_conjunction_works_with_every_engine(engine: str, text: str) -> None:
    index = tamis.Index(engine=engine)
    index.add("other", "zzz = 1")
    index.add("s", text)
    expression = tamis.parse(text)
    for event in (
        {},
        {"a": 4},
        {"a": 2},
        {"a": "x"},
        {"a": None, "b": 1},
        {"s": "abx"},
        {"s": "ax"},
        {"tags": ["y"]},
        {"tags": ["x", "y"]},
        {"a": {"b": {"c": 1, "d": "x"}}},
    ):
        assert index.match(event) == (["s"] if expression.matches(event) else [])


@pytest.mark.parametrize("engine", ENGINES)
@given(data=st.data(), seen=st.lists(events(), min_size=1, max_size=3))
@settings(max_examples=EXAMPLES // 2)
def test_neither_order_nor_removed_subscriptions_leave_a_trace(
    engine: str, data: st.DataObject, seen: list[dict[str, Any]]
) -> None:
    arbitrary = engine == "auto" or tamis.engines()[engine].arbitrary
    conditions = data.draw(st.lists(expressions() if arbitrary else conjunctions(), min_size=5, max_size=10))
    order = data.draw(st.permutations(range(len(conditions))))
    index = tamis.Index(engine=engine)
    for id in order:
        index.add(id, conditions[id])
    gone = order[: 2 * len(order) // 5]
    for id in gone:
        index.remove(id)
    for event in seen:
        expected = [id for id in range(len(conditions)) if id not in gone and conditions[id].matches(event)]
        assert sorted(index.match(event)) == expected
    for id in order[len(gone) :]:
        index.remove(id)
    index.check_invariants()
    assert not any(index.match(event) for event in seen)
    assert index.stats().get("predicates", 0) == 0
