"""Matching by windows: the same answers as by masks, and as the meaning of the language."""

import os
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.strategies import conjunctions, events, expressions
from support.twins import passes_as_plain_python
from tamis.language import Expression
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments import segment as segments
from tamis.matching.segments import windows
from tamis.matching.segments.answers import Answers
from tamis.matching.segments.blocks import NO_LIMIT
from tamis.matching.segments.draft import draft_of
from tamis.matching.segments.segment import Segment, build
from tamis.matching.segments.windows import BUCKETS, EVENTS, LEAST_EVENTS, MOST_NUMBERS, windows_of

EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "60"))
ATTRIBUTES = ("a", "b", "c", "d")


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Match everything by windows that can be."""
    monkeypatch.setattr(windows, "_WORTH", 0)
    monkeypatch.setattr(segments, "LEAST_EVENTS", 1)


def leaves_of(segment: Segment, some: Sequence[dict[str, Any]]) -> tuple[Longs, Ints]:
    found = [segment.lines.leaves_of(event) for event in some]
    offsets = np.concatenate(([0], np.cumsum([len(each) for each in found]))).astype(np.int64)
    return offsets, np.array([leaf for each in found for leaf in each], np.int32)


def by_masks(segment: Segment, offsets: Longs, leaves: Ints) -> Answers:
    return segment._match_blocks(offsets, leaves, segment.rows.ranged[:-1], NO_LIMIT, True)


def listed(answers: Answers) -> list[list[int]]:
    offsets, rows = answers
    return [sorted(rows[first:last].tolist()) for first, last in pairwise(offsets)]


def ranges(source: random.Random, count: int) -> list[Expression]:
    """Conjunctions of ranges on up to four lines, some of them open, of one value, or met by what is missing."""

    def part(attribute: str) -> str:
        low = source.randrange(1_000)
        return source.choice(
            (
                f"{attribute} between {low} and {low + source.randrange(300)}",
                f"{attribute} > {low}",
                f"{attribute} <= {low / 7}",
                f"({attribute} is null or {attribute} < {low})",
                f"{attribute} not between {low} and {low + 50}",
            )
        )

    chosen = [source.sample(ATTRIBUTES, source.randint(1, len(ATTRIBUTES))) for _ in range(count)]
    return [tamis.parse(" and ".join(map(part, attributes))) for attributes in chosen]


def numbers(source: random.Random, count: int) -> list[dict[str, Any]]:
    """Events that lack something now and then."""
    return [{name: source.randrange(1_100) for name in ATTRIBUTES if source.random() < 0.9} for _ in range(count)]


@pytest.mark.usefixtures("always")
def test_random_conditions() -> None:
    @given(
        conditions=st.lists(expressions() | conjunctions(), max_size=12),
        some=st.lists(events(), min_size=5, max_size=8),
        copies=st.integers(1, 30),
    )
    @settings(max_examples=3 * EXAMPLES)
    def check(conditions: list[Expression], some: list[dict[str, Any]], copies: int) -> None:
        conditions = [*conditions, *(tamis.parse(f"a > {n} and b < {n} and c > {n}") for n in range(3))]
        segment, order = build(draft_of(conditions))
        assert len(segment.windows.anchors)
        found = segment.match_leaves(*leaves_of(segment, some * copies))
        expected = [[n for n, condition in enumerate(conditions) if condition.matches(event)] for event in some]
        assert [sorted(order[each].tolist()) for each in listed(found)] == expected * copies

    check()


@pytest.mark.parametrize("count", [LEAST_EVENTS, EVENTS, 2 * EVENTS + 1_000])
def test_as_many_events_as_there_are(count: int) -> None:
    source = random.Random(count)
    conditions = ranges(source, 8_000)
    some = numbers(source, count)
    segment, order = build(draft_of(conditions))
    assert len(segment.windows.anchors)
    offsets, leaves = leaves_of(segment, some)
    found = segment.match_leaves(offsets, leaves)
    assert listed(found) == listed(by_masks(segment, offsets, leaves))
    for row in range(0, count, count // 20):
        met = [number for number, condition in enumerate(conditions) if condition.matches(some[row])]
        assert sorted(order[found.rows[found.offsets[row] : found.offsets[row + 1]]].tolist()) == met
    counted = segment.match_leaves(offsets, leaves, kept=False)
    assert np.array_equal(counted.offsets, found.offsets)
    assert not len(counted.rows)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("values", [1, BUCKETS, 3 * BUCKETS, 5_000])
def test_values_that_events_share(values: int) -> None:
    """One bucket has many leaves, one leaf has many events, or neither."""
    source = random.Random(values)
    segment, _ = build(draft_of(ranges(source, 100)))
    some = [{name: source.randrange(values) for name in ATTRIBUTES} for _ in range(600)]
    offsets, leaves = leaves_of(segment, some)
    assert listed(segment.match_leaves(offsets, leaves)) == listed(by_masks(segment, offsets, leaves))


def test_answers_that_need_more_room_than_there_is() -> None:
    """More answers than rows and events could have without growing, and none of them twice."""
    conditions = [tamis.parse(f"a > {-number} and b < {1_000 + number}") for number in range(600)]
    segment, _ = build(draft_of(conditions))
    offsets, leaves = leaves_of(segment, [{"a": 1, "b": 1}] * 2_000)
    found = segment.match_leaves(offsets, leaves)
    assert np.array_equal(np.diff(found.offsets), np.full(2_000, 600))
    assert all(each == list(range(600)) for each in listed(found))


def test_where_there_are_very_many_answers_fewer_events_are_sorted_together() -> None:
    conditions = [tamis.parse(f"a > {-number} and b < {1_000 + number}") for number in range(1_500)]
    segment, _ = build(draft_of(conditions))
    offsets, leaves = leaves_of(segment, [{"a": 1, "b": 1}] * EVENTS)
    found = segment.match_leaves(offsets, leaves)
    assert np.array_equal(np.diff(found.offsets), np.full(EVENTS, 1_500))
    assert np.array_equal(np.sort(found.rows.reshape(EVENTS, -1), axis=1), np.tile(np.arange(1_500), (EVENTS, 1)))
    thread = segment._thread()
    assert thread.room(segment.windows).most[0] < EVENTS
    assert len(thread.wide_pairs) <= 2 * MOST_NUMBERS
    # And as many as before again, when there are few.
    offsets, leaves = leaves_of(segment, [{"a": -2_000, "b": 1}] * EVENTS)
    assert not len(segment.match_leaves(offsets, leaves).rows)
    assert thread.room(segment.windows).most[0] == EVENTS


def test_only_plain_ranges_are_matched_by_windows() -> None:
    texts = [f"a between {n} and {n + 9} and b > {n}" for n in range(300)]
    texts += [f"a between {n} and {n + 9} and (b = {n} or c > {n})" for n in range(300)]
    segment, _ = build(draft_of([tamis.parse(text) for text in texts]))
    rows = segment.rows
    assert (np.diff(rows.code_start) > 0).sum() == 300
    for on in segment.windows.anchors.tolist():
        first, last = rows.ranged[on], segment.windows.rest[on]
        assert rows.code_start[first] == rows.code_start[last]
        assert last == rows.ranged[on + 1] or rows.code_start[last] < rows.code_start[last + 1]


def test_a_few_ranges_on_many_lines_are_not_worth_it() -> None:
    few = [tamis.parse(f"a{n} > 1 and a{n + 1} > 2") for n in range(200)]
    segment, _ = build(draft_of(few))
    assert not len(windows_of(segment.rows).anchors)
    many = [tamis.parse(f"a{n % 100} > {n} and a{n % 100 + 1} > 2") for n in range(60_000)]
    chosen = windows_of(build(draft_of(many))[0].rows)
    assert 0 < len(chosen.lines) <= 64


@pytest.mark.slow
def test_without_compilation() -> None:
    passes_as_plain_python(Path(__file__), chosen="random_conditions or share", examples=4)
