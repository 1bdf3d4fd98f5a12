"""Drafts, rows, and both ways to match: against the meaning of the language."""

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tamis
from support.strategies import conjunctions, events, expressions
from support.twins import passes_as_plain_python
from tamis.language import Expression
from tamis.matching.ranks.lists import Longs
from tamis.matching.segments import blocks, rows
from tamis.matching.segments.draft import draft_of, joined
from tamis.matching.segments.ids import Ids
from tamis.matching.segments.lines import Lines
from tamis.matching.segments.masks import EVENTS
from tamis.matching.segments.part import Part, merged
from tamis.matching.segments.segment import Segment, build
from tamis.matching.segments.spelled import expression_of
from tamis.matching.segments.texts import Texts
from tamis.matching.segments.values import Values

EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "60"))
SYMBOLS = ("A", "B", "C", "D", "E", "F", "G", "H")


def singly(segment: Segment, order: Longs, event: dict[str, Any]) -> list[int]:
    return sorted(order[segment.match(Values(event))].tolist())


def at_once(segment: Segment, order: Longs, some: Sequence[dict[str, Any]]) -> list[list[int]]:
    """What events meet when their leaves are matched as blocks."""
    found = [segment.lines.leaves_of(event) for event in some]
    offsets = np.concatenate(([0], np.cumsum([len(each) for each in found]))).astype(np.int64)
    leaves = np.array([leaf for each in found for leaf in each], np.int32)
    ends, numbers = segment.match_leaves(offsets, leaves)
    return [sorted(order[numbers[ends[row] : ends[row + 1]]].tolist()) for row in range(len(some))]


def expected(conditions: Sequence[Expression], event: dict[str, Any]) -> list[int]:
    return [number for number, condition in enumerate(conditions) if condition.matches(event)]


@given(
    conditions=st.lists(expressions() | conjunctions(), max_size=12),
    some=st.lists(events(), min_size=1, max_size=6),
    copies=st.integers(1, 12),
)
@settings(max_examples=3 * EXAMPLES)
def test_random_conditions(conditions: list[Expression], some: list[dict[str, Any]], copies: int) -> None:
    segment, order = build(draft_of(conditions))
    assert sorted(order.tolist()) == list(range(len(conditions)))
    rows.checked(segment.rows, segment.lines.cuts, len(conditions))
    answers = [expected(conditions, event) for event in some]
    assert [singly(segment, order, event) for event in some] == answers
    # Many that share a leaf are matched otherwise than few.
    assert at_once(segment, order, some * copies) == answers * copies


@given(
    groups=st.lists(st.lists(expressions() | conjunctions(), max_size=6), min_size=1, max_size=4),
    some=st.lists(events(), min_size=1, max_size=5),
    data=st.data(),
)
@settings(max_examples=EXAMPLES)
def test_merging_is_building_anew(
    groups: list[list[Expression]], some: list[dict[str, Any]], data: st.DataObject
) -> None:
    parts: list[Part] = []
    alive: list[npt.NDArray[np.bool_]] = []
    kept: dict[int, Expression] = {}
    for group in groups:
        first = sum(len(part) for part in parts)
        ids = Ids.of(list(range(first, first + len(group)))) if group else Ids.of(np.empty(0, np.int64))
        part = Part.of(ids, draft_of(group), Texts.of([str(each) for each in group]))
        living = np.array(data.draw(st.lists(st.booleans(), min_size=len(group), max_size=len(group))), np.bool_)
        parts.append(part)
        alive.append(living)
        kept |= {
            id: group[id - first]
            for id, there in zip(part.ids.take(np.arange(len(part))), living, strict=True)
            if there
        }

    def hits(lines: Lines) -> tuple[Longs, int]:
        """A sample of events, which may say anything: it changes no answer."""
        counts = np.zeros(len(lines.cuts.dimension), np.int64)
        for event in some:
            np.add.at(counts, lines.leaves_of(event), 7)
        return counts, len(some)

    for sample in (None, hits):
        whole, numbers = merged(parts, alive, sample)
        assert sorted(whole.ids.take(np.arange(len(whole)))) == sorted(kept)
        everything = Ids.concatenated([part.ids for part in parts])
        assert whole.ids.take(np.arange(len(whole))) == everything.take(numbers)
        for event in some:
            found = whole.ids.take(whole.segment.match(Values(event)))
            assert sorted(found) == sorted(id for id, condition in kept.items() if condition.matches(event))
        for row, id in enumerate(whole.ids.take(np.arange(len(whole)))):
            assert whole.condition(row) == tamis.parse(str(kept[id]))


@given(conditions=st.lists(expressions() | conjunctions(), max_size=8), some=st.lists(events(), min_size=1, max_size=4))
@settings(max_examples=EXAMPLES)
def test_a_draft_of_a_segment_is_the_draft_of_its_conditions(
    conditions: list[Expression], some: list[dict[str, Any]]
) -> None:
    segment, order = build(draft_of(conditions))
    again, other = build(joined([segment.draft(np.ones(len(conditions), np.bool_)), draft_of(conditions)]))
    size = len(conditions)
    number = np.concatenate((order, np.arange(size))).astype(np.int64)[other] if size else other
    for event in some:
        answer = expected(conditions, event)
        assert singly(again, number, event) == sorted(answer + answer)


@example(tamis.parse("(a = 0) <> (a = 0)"), [{"a": 0}])
@given(condition=expressions() | conjunctions(), some=st.lists(events(), min_size=1, max_size=5))
@settings(max_examples=EXAMPLES)
def test_a_row_can_be_spelled(condition: Expression, some: list[dict[str, Any]]) -> None:
    segment, _ = build(draft_of([condition]))
    if all(isinstance(name, str) for name in segment.lines.names):
        spelled = expression_of(0, segment.lines, segment.rows)
        assert [spelled.matches(event) for event in some] == [condition.matches(event) for event in some]


def _condition(source: random.Random) -> str:
    """A condition over a few attributes, with every way in which rows can be anchored."""
    number = source.randrange
    parts = [
        f"symbol = '{source.choice(SYMBOLS)}'",
        f"price > {number(100)}",
        f"price between {(low := number(100))} and {low + number(30)}",
        f"symbol in ('{source.choice(SYMBOLS)}', '{source.choice(SYMBOLS)}')",
        f"note like '%{source.choice('xyz')}%'",
        f"array_contains(tags, '{source.choice(SYMBOLS)}')",
        f"(size = {number(9)} or side = 'buy')",
        f"(size <> {number(9)} and (side is null or price < {number(100)}))",
        f"(price > {number(100)}) <> (size > {number(9)})",
        "side is null",
        f"size not in ({number(9)}, {number(9)})",
        f"not (price < {number(100)} and (size = {number(9)} or not (side = 'buy' and price > {number(100)})))",
    ]
    return " and ".join(source.sample(parts, source.choice((1, 1, 2, 3))))


def _event(source: random.Random) -> dict[str, Any]:
    event = {
        # Some are had by many, others by few.
        "symbol": source.choice((*SYMBOLS, "A", "A", "A", "A", None)),
        "price": source.randrange(110),
        "size": source.choice((*range(9), None)),
        "side": source.choice(("buy", "sell", None)),
        "note": source.choice(("x", "yy", "-", None)),
        "tags": source.choice((None, [], ["A"], ["B", "C", None])),
    }
    return {name: value for name, value in event.items() if source.random() < 0.85}


@pytest.mark.parametrize("kept", [1.0, 0.02], ids=["many-rows", "few-rows"])
def test_batches_longer_than_a_block(kept: float) -> None:
    source = random.Random(11)
    texts = [_condition(source) for _ in range(int(1200 * kept))] + ["true", "false", "price > 5 and price < 3"]
    conditions = [tamis.parse(text) for text in texts]
    segment, order = build(draft_of(conditions))
    if kept == 1.0:
        assert all(np.diff(np.concatenate(([0], segment.rows.ends))) > 0), "every class of rows is there"
    some = [_event(source) for _ in range(2 * EVENTS + 77)]
    found = at_once(segment, order, some)
    for row in (*range(0, len(some), 9), len(some) - 1):
        assert found[row] == expected(conditions, some[row]), some[row]
    assert [singly(segment, order, event) for event in some] == found
    # As columns, from any row on.
    columns = pa.RecordBatch.from_pylist(
        some,
        schema=pa.schema(
            {
                "symbol": pa.string(),
                "price": pa.int32(),
                "size": pa.float64(),
                "side": pa.dictionary(pa.int8(), pa.string()),
                "note": pa.large_string(),
                "tags": pa.list_(pa.string()),
            }
        ),
    )
    for first in (0, 3, EVENTS - 1):
        ends, numbers = segment.match_batch(columns.slice(first))
        assert len(ends) == len(some) - first + 1
        assert [
            sorted(order[numbers[ends[row] : ends[row + 1]]].tolist()) for row in range(len(some) - first)
        ] == found[first:]


def test_more_answers_than_there_was_room_for() -> None:
    segment, order = build(draft_of([tamis.parse(f"a > {number}") for number in range(300)]))
    ends, numbers = segment.match_batch(pa.record_batch({"a": [1000] * (3 * EVENTS)}))
    assert (np.diff(ends) == 300).all()
    assert np.array_equal(np.sort(order[numbers].reshape(-1, 300), axis=1)[-1], np.arange(300))


def test_events_with_more_leaves_than_a_block_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    # Filters that are passed are leaves too: of an attribute there may be any number.
    monkeypatch.setattr(blocks, "MOST_LEAVES", 5)
    segment, order = build(draft_of([tamis.parse(f"s not like '%{number}-%'") for number in range(20)]))
    texts = ["x", None, "17-", "8-", *("y" for _ in range(20))]
    ends, numbers = segment.match_batch(pa.record_batch({"s": texts}))
    assert np.diff(ends).tolist() == [20, 0, 18, 19, *(20 for _ in range(20))]
    assert set(range(20)) - set(order[numbers[ends[2] : ends[3]]].tolist()) == {7, 17}


def test_no_rows_and_no_events() -> None:
    segment, _ = build(draft_of([]))
    assert segment.match(Values({"a": 1})).tolist() == []
    assert segment.match_batch(pa.record_batch({"a": [1, 2]})).offsets.tolist() == [0, 0, 0]
    segment, _ = build(draft_of([tamis.parse("a = 1"), tamis.parse("b is null")]))
    assert segment.match_batch(pa.record_batch({"a": pa.array([], pa.int64())})).offsets.tolist() == [0]
    assert np.diff(segment.match_batch(pa.record_batch({"c": [1] * 20})).offsets).tolist() == [1] * 20


@pytest.mark.slow
def test_the_kernels_as_plain_python() -> None:
    passes_as_plain_python(Path(__file__), chosen="random or merging or few-rows", examples=6)
