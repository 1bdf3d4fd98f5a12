from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.strategies import conjunctions, events
from tamis.language import Expression
from tamis.matching.ranks.encoding import Encoded, encode, encode_batch
from tamis.matching.ranks.kernels import Predicates, meets
from tamis.matching.ranks.space import Space


def met(space: Space, encoded: Encoded, row: int, predicates: list[int]) -> bool:
    """What kernels do, spelled out: is the rank of the event's leaf within the bounds of every predicate?"""
    view = Predicates(space.rank, space.dimension, space.bounds.view())
    places = range(int(encoded.offsets[row]), int(encoded.offsets[row + 1]))
    ranks = {int(encoded.dimensions[place]): int(space.rank[encoded.leaves[place]]) for place in places}
    return all(meets(each, ranks.get(int(space.dimension[each]), 0), view) for each in predicates)


@given(st.lists(st.tuples(conjunctions(), st.booleans()), max_size=6), st.lists(events(), max_size=4))
@settings(max_examples=200)
def test_rank_space_says_what_the_language_says(
    history: list[tuple[Expression, bool]], seen: list[dict[str, Any]]
) -> None:
    space = Space()
    alive: list[tuple[Expression, list[int] | None]] = []
    for expression, goes in history:
        acquired = space.acquire(expression)
        alive.append((expression, None if acquired is None else acquired[0]))
        if goes:
            _, predicates = alive.pop(0)
            space.release(predicates or [])
        space.check_invariants()
        encoded = encode(space, seen)
        for row, event in enumerate(seen):
            for kept, predicates in alive:
                assert kept.matches(event) == (predicates is not None and met(space, encoded, row, predicates))
    for _, predicates in alive:
        space.release(predicates or [])
    assert space.predicates == 0
    assert not any(space.lines)
    space.check_invariants()


def test_equal_predicates_are_kept_once() -> None:
    space = Space()
    acquired = [
        space.acquire(tamis.parse(text))
        for text in ("x = 5 and y > 1", "y > 1 and x = 5.0", "x >= 5 and x <= 5", "x in (5)", "x like 'a'", "x = 'a'")
    ]
    assert all(each is not None for each in acquired)
    assert space.predicates == 3
    assert space.acquire(tamis.parse("x > 5 and x < 3")) is None
    assert space.acquire(tamis.parse("s < ''")) is None
    assert space.acquire(tamis.parse("x is null or x is not null")) == ([], [])


def test_known_spellings_are_forgotten_without_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.matching.ranks.space._KNOWN_SPELLINGS", 2)
    space = Space()
    texts = ["a = 1", "b = 1", "c = 1 and a = 1", "d = 1 and b = 1 and e = 1", "a = 1 and f = 1 and c = 1"]
    acquired = [space.acquire(tamis.parse(text)) for text in texts]
    assert space.predicates == 6
    for each in acquired:
        assert each is not None
        space.check_invariants()
        space.release(each[0])
    assert space.predicates == 0


def test_hits_are_shared_by_split_and_added_by_merge() -> None:
    space = Space()
    space.acquire(tamis.parse("x < 10"))
    line = space.lines[0]
    assert line is not None
    low = encode(space, [{"x": 3}]).leaves[0]
    space.hits[low] = 7
    acquired = space.acquire(tamis.parse("x > 5"))
    assert acquired is not None
    (split,) = acquired[1]
    assert split.old == low
    assert space.hits[split.new] == 7
    (merge,) = space.release(acquired[0])
    assert merge.kept == low
    assert space.hits[low] == 14


def test_filters_are_dimensions_of_their_own() -> None:
    space = Space()
    space.acquire(tamis.parse("s like '%x' and n.t > 1 and array_contains(tags, 1)"))
    rows: list[dict[str, Any]] = [
        {"s": "ax", "n": {"t": 2}, "tags": [1]},
        {"s": "a", "n": {"t": 0}, "tags": []},
        {"n": {"t": None}},
        {},
    ]
    one_by_one = encode(space, rows)
    assert [int(each) for each in one_by_one.offsets] == [0, 3, 4, 4, 4]
    table = pa.RecordBatch.from_pylist(
        rows,
        pa.schema({"s": pa.string(), "n": pa.struct({"t": pa.int64()}), "tags": pa.list_(pa.int64())}),
    )
    by_column = encode_batch(space, table)
    assert by_column.offsets.tolist() == one_by_one.offsets.tolist()
    for row in range(4):
        part = slice(*one_by_one.offsets[row : row + 2])
        assert set(by_column.leaves[part].tolist()) == set(one_by_one.leaves[part].tolist())


@pytest.mark.parametrize("rows", [0, 3])
def test_a_batch_without_known_columns(rows: int) -> None:
    space = Space()
    space.acquire(tamis.parse("x = 1"))
    encoded = encode_batch(space, pa.RecordBatch.from_pydict({"y": pa.array([1] * rows, pa.int64())}))
    assert encoded.rows == rows
    assert len(encoded.leaves) == 0
