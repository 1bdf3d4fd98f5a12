from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.histories import crowded_conjunctions
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


def cuts_by_name(space: Space) -> dict[Any, Any]:
    return {name: space.lines[dimension].keys() for name, dimension in space._dimensions.items()}  # type: ignore[union-attr]


@given(st.lists(st.tuples(conjunctions(), st.booleans()), max_size=6), st.lists(events(), max_size=4))
@settings(max_examples=200)
def test_rank_space_says_what_the_language_says(
    history: list[tuple[Expression, bool]], seen: list[dict[str, Any]]
) -> None:
    space = Space()
    alive: list[tuple[Expression, list[int] | None]] = []
    for expression, goes in history:
        (acquired,), _ = space.acquire([expression])
        alive.append((expression, acquired))
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
    texts = ("x = 5 and y > 1", "y > 1 and x = 5.0", "x >= 5 and x <= 5", "x in (5)", "x like 'a'", "x = 'a'")
    for _ in range(2):
        acquired, _ = space.acquire(map(tamis.parse, texts))
        assert all(acquired)
    assert space.predicates == 3
    assert sorted(space.uses) == [4, 4, 8]
    broken = map(tamis.parse, ("x > 5 and x < 3", "s < ''", "x is null or x is not null"))
    assert space.acquire(broken) == ([None, None, []], [])


@given(st.lists(conjunctions() | crowded_conjunctions(), max_size=12), st.integers(0, 12))
def test_at_once_is_the_same_as_one_by_one(expressions: list[Expression], before: int) -> None:
    one_by_one, at_once = Space(), Space()
    for expression in expressions:
        one_by_one.acquire([expression])
    for part in (expressions[:before], expressions[before:]):
        acquired, splits = at_once.acquire(part)
        assert len(acquired) == len(part)
        assert not {split.old for split in splits} & {split.new for split in splits}
        at_once.check_invariants()
    assert at_once.predicates == one_by_one.predicates
    assert sorted(at_once.uses) == sorted(one_by_one.uses)
    assert cuts_by_name(at_once) == cuts_by_name(one_by_one)


def test_many_new_cuts_are_sorted_in() -> None:
    space = Space()
    space.acquire([tamis.parse("x > 5")])
    space.acquire([tamis.parse(f"x between {low} and {low + 3}") for low in range(0, 300, 2)])
    space.check_invariants()
    encoded = encode(space, [{"x": value} for value in range(-1, 304)])
    assert space.rank[encoded.leaves].tolist() == sorted(space.rank[encoded.leaves].tolist())


def test_many_predicates_go_when_the_last_use_of_their_cuts_does() -> None:
    space = Space()
    texts = [f"x between {low} and {low + high}" for low in range(0, 60, 2) for high in range(1, 4)]
    at_once, _ = space.acquire(map(tamis.parse, texts))
    one_by_one = Space()
    for text in texts:
        one_by_one.acquire([tamis.parse(text)])
    assert cuts_by_name(space) == cuts_by_name(one_by_one)
    assert [space.rank[space.bounds[each]].tolist() for (each,) in filter(None, at_once)] == [
        one_by_one.rank[one_by_one.bounds[each]].tolist() for each in range(len(texts))
    ]
    for predicates in at_once:
        space.release(predicates or [])
        space.check_invariants()
    assert space.predicates == 0


def test_shapes_are_found_out_only_where_they_are_asked_for() -> None:
    texts = ("x > 5", "x <> 3 and y is null")
    shaped, plain = Space(), Space(shaped=False)
    assert shaped.acquire(map(tamis.parse, texts)) == plain.acquire(map(tamis.parse, texts))
    assert shaped.shape[:3].all()
    assert not plain.shape[:3].any()
    plain.check_invariants()


def test_hits_are_shared_by_split_and_added_by_merge() -> None:
    space = Space()
    space.acquire([tamis.parse("x < 10")])
    line = space.lines[0]
    assert line is not None
    low = encode(space, [{"x": 3}]).leaves[0]
    space.hits[low] = 7
    (predicates,), (split,) = space.acquire([tamis.parse("x > 5")])
    assert split.old == low
    assert space.hits[split.new] == 7
    assert predicates is not None
    (merge,) = space.release(predicates)
    assert merge.kept == low
    assert space.hits[low] == 14


def test_filters_are_dimensions_of_their_own() -> None:
    space = Space()
    space.acquire([tamis.parse("s like '%x' and n.t > 1 and array_contains(tags, 1)")])
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
    space.acquire([tamis.parse("x = 1")])
    encoded = encode_batch(space, pa.RecordBatch.from_pydict({"y": pa.array([1] * rows, pa.int64())}))
    assert encoded.rows == rows
    assert len(encoded.leaves) == 0
