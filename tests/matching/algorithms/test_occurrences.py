"""What all engines that evaluate expressions one by one have in common."""

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.strategies import events, expressions
from tamis.lab.workloads import generate, workloads
from tamis.language import Expression
from tamis.matching.algorithms.occurrences import OccurrenceEngine, tree_of, written_out
from tamis.matching.engine import make_engine
from tamis.matching.ranks.forms import LEAF, SAME, Forms

ENGINES = ("bdd", "bop", "dewey", "interval", "translation")


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(("depth", "count"), [(3, 600), (4, 100)])
def test_a_workload(name: str, depth: int, count: int) -> None:
    spec = msgspec.structs.replace(workloads()["abe-gen"], subscriptions=count, events=40, depth=depth)
    workload = generate(spec)
    conditions = [tamis.parse(text) for text in workload.conditions.texts().to_pylist()]
    engine = make_engine(name)
    engine.add_many(range(len(conditions)), conditions)
    engine.check_invariants()
    found = 0
    for event in workload.events.rows():
        expected = [position for position, each in enumerate(conditions) if each.matches(event)]
        assert sorted(engine.match(event)) == expected
        found += len(expected)
    assert found > 0
    engine.check_invariants()


@given(
    st.sampled_from(ENGINES),
    st.lists(expressions(), max_size=8),
    st.lists(expressions(), max_size=4),
    st.lists(events(), max_size=4),
)
def test_additions_after_events(
    name: str, first: list[Expression], later: list[Expression], seen: list[dict[str, Any]]
) -> None:
    engine = make_engine(name)
    engine.add_many(range(len(first)), first)
    for event in seen:
        engine.match(event)
    for position, expression in enumerate(later, start=len(first)):
        engine.add(position, expression)
    engine.check_invariants()
    for event in seen:
        expected = [position for position, each in enumerate(first + later) if each.matches(event)]
        assert sorted(engine.match(event)) == expected


@pytest.mark.parametrize("name", ENGINES)
def test_wide_expressions(name: str) -> None:
    wide = " or ".join(f"(a{number} = 1 and b{number} = 1)" for number in range(100))
    engine = make_engine(name)
    engine.add_many(range(2), [tamis.parse(wide), tamis.parse(wide.replace("and", "AND NOT"))])
    every = {f"{letter}{number}": 1 for letter in "ab" for number in range(100)}
    assert engine.match(every) == [0]
    assert engine.match({name: value for name, value in every.items() if name != "b7"}) == [0]
    assert engine.match({name: 1 for name in every if name.startswith("a")}) == []
    assert engine.match({"a99": 1, "b99": 1, "b0": 1, "a50": 1}) == [0]
    assert engine.match({"a99": 1, "b99": 2}) == [1]


@pytest.mark.parametrize("name", ["bdd", "dewey", "interval"])
def test_what_cannot_be_removed(name: str) -> None:
    engine = make_engine(name)
    engine.add(0, tamis.parse("a = 1"))
    with pytest.raises(TypeError, match="is not dynamic"):
        engine.remove(0)


@pytest.mark.parametrize("name", ["bdd", "bop", "dewey", "interval"])
def test_clocks_start_anew(name: str) -> None:
    engine = make_engine(name)
    assert isinstance(engine, OccurrenceEngine)
    engine.add_many(range(2), [tamis.parse("a = 1 and b = 2"), tamis.parse("a = 1 or c = 3")])
    assert sorted(engine.match({"a": 1, "b": 2})) == [0, 1]
    engine.scratch("clock", 1)[0] = (1 << 30) + 1
    for number in range(1, 4):
        assert engine.match({"c": 3, "b": 2}) == [1]
        assert engine.scratch("clock", 1)[0] == number


def test_a_tree() -> None:
    forms = Forms()
    forms.write(tamis.parse("(a = 1 or b = 2) and c = 3"))
    forms.write(tamis.parse("a = 1"))
    tree = tree_of(np.array(forms.offsets), np.array(forms.codes))
    assert tree.parent.tolist() == [2, 2, 4, 4, -1, -1]
    assert tree.number.tolist() == [1, 2, 1, 2, 0, 0]
    assert tree.depth.tolist() == [2, 2, 1, 1, 0, 0]
    assert tree.begin.tolist() == [0, 1, 0, 3, 0, 5]


def test_what_is_the_same_is_written_out() -> None:
    forms = Forms()
    for text in ("a = 1", "((a = 1 and b = 1) = (c = 1 and d = 1)) = (e = 1)", "b = 1 and c = 1"):
        forms.write(tamis.parse(text))
    assert SAME in [code & 3 for code in forms.codes]
    given = np.array(forms.offsets), np.array(forms.codes)
    offsets, codes = written_out(*given)
    assert np.diff(offsets).tolist() == [1, len(codes) - 4, 3]
    assert np.count_nonzero((codes & 3) == LEAF) == 1 + 18 + 2
    assert written_out(offsets, codes)[1] is codes
