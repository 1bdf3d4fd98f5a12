import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import POOLS, predicates
from tamis.language import Between, Kind, Predicate
from tamis.language.normal import clauses
from tamis.language.values import read
from tamis.language.valueset import true_for
from tamis.matching.ranks.line import FIXED, Keys, Shape, SortedCuts, bounds, points_by_kind, shape, stretches


def new_line() -> SortedCuts:
    numbers = itertools.count()
    return SortedCuts(lambda count: list(itertools.islice(numbers, count)), lambda _: None)


def cuts_of(predicate: Predicate) -> Keys:
    return tuple(key for piece in stretches(true_for(predicate)) for key in piece)


@given(predicates())
def test_the_short_cut_finds_the_same_bounds(predicate: Predicate) -> None:
    found = bounds(predicate, points_by_kind())
    assert found is None or found == cuts_of(predicate)


@given(st.lists(predicates(), max_size=6))
def test_leaves_tell_apart_exactly_what_predicates_tell_apart(used: list[Predicate]) -> None:
    line = new_line()
    for predicate in used:
        line.insert(cuts_of(predicate))
    values = [(kind, value) for kind, pool in POOLS.items() for value in pool]
    values += [(Kind.NULL, None), (Kind.OTHER, [])]
    place = {leaf: rank for rank, leaf in enumerate(line.leaves())}
    for kind, value in values:
        rank = place[line.locate(kind, value)]
        for predicate in used:
            pieces = stretches(true_for(predicate))
            inside = any(place[line.starting(low)] <= rank < place[line.starting(high)] for low, high in pieces)
            assert inside == true_for(predicate).contains(kind, value)


@given(st.lists(predicates(), max_size=8), st.randoms(use_true_random=False))
def test_the_partition_depends_only_on_the_survivors(used: list[Predicate], random: Any) -> None:
    line = new_line()
    for predicate in used:
        line.insert(cuts_of(predicate))
    gone = [predicate for predicate in used if random.random() < 0.5]
    for predicate in gone:
        line.remove(cuts_of(predicate))
    rebuilt = new_line()
    kept = list(used)
    for predicate in gone:
        kept.remove(predicate)
    for predicate in kept:
        rebuilt.insert(cuts_of(predicate))
    assert line.keys() == rebuilt.keys()
    assert len(set(line.leaves())) == len(line.keys())
    for predicate in kept:
        line.remove(cuts_of(predicate))
    assert line.keys() == list(FIXED)


def test_the_example_of_the_specification() -> None:
    # specs/002 §4: [20,60] and [30,80]; removing the second leaves [..20), [20,60], (60..].
    line = new_line()
    first, second = (Between("x", low, high, Kind.NUMBER) for low, high in ((20, 60), (30, 80)))
    line.insert(cuts_of(first))
    line.insert(cuts_of(second))

    def inner_cuts() -> list[Any]:
        keys = line.keys()
        return [key[1:] for key in keys if len(key) > 1]

    assert inner_cuts() == [(20, 0), (30, 0), (60, 1), (80, 1)]
    merges = line.remove(cuts_of(second))
    assert inner_cuts() == [(20, 0), (60, 1)]
    assert [merge.kept for merge in merges] == [line.locate(Kind.NUMBER, 25), line.locate(Kind.NUMBER, 70)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", Shape.ONE_VALUE),
        ("x in (1, 2)", Shape.VALUES),
        ("x between 1 and 2", Shape.INTERVAL),
        ("x > 1 and x < 9 and x <> 5", Shape.INTERVAL),
        ("x > 1", Shape.HALF_LINE),
        ("x <= 'b'", Shape.HALF_LINE),
        ("x not in (1, 2)", Shape.NOT_VALUES),
        ("x <> 1", Shape.NOT_ONE_VALUE),
        ("x is not null", Shape.BROAD),
        ("x is null or x = 1", Shape.BROAD),
        ("x", Shape.ONE_VALUE),
    ],
)
def test_shapes(text: str, expected: Shape) -> None:
    (clause,) = clauses(tamis.parse(text))
    assert shape(tuple(key for piece in stretches(clause["x"]) for key in piece)) is expected


def test_events_are_read_as_the_language_reads_them() -> None:
    line = new_line()
    line.insert([(1, 5, 0), (1, 5, 1)])
    at = [line.locate(*read({"x": value}, "x")) for value in (4.5, 5, 5.0, 5.5, None, "5", True)]
    assert at[1] == at[2]
    assert len(set(at)) == 6
