"""Histories of a conjunctive engine, driven below the index: every position and every way to add."""

from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from support.strategies import conjunctions, events
from tamis.language import And, Between, Expression, In, IsNull, Kind, Predicate, compare
from tamis.matching.ranks.conjunctive import ConjunctiveEngine

_NAMES = ("a", "b", "c", "d")
_NUMBERS = st.integers(0, 7)


@st.composite
def _crowded_predicates(draw: st.DrawFn, name: str) -> Predicate:
    which = draw(st.integers(0, 4))
    if which <= 1:
        return compare(name, draw(st.sampled_from(("=", "=", "<>", "<", "<=", ">", ">="))), draw(_NUMBERS))
    if which == 2:
        low = draw(_NUMBERS)
        return Between(name, low, draw(st.integers(low, 9)), Kind.NUMBER, draw(st.booleans()))
    if which == 3:
        values = tuple(draw(st.lists(_NUMBERS, min_size=2, max_size=6, unique=True)))
        return In(name, values, Kind.NUMBER, draw(st.booleans()), has_null=False)
    return IsNull(name, draw(st.booleans()))


@st.composite
def crowded_conjunctions(draw: st.DrawFn) -> Expression:
    """Conjunctions over four attributes and eight numbers, so that most leaves are shared."""
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=4, unique=True))
    parts = tuple(draw(_crowded_predicates(name)) for name in names)
    return parts[0] if len(parts) == 1 else And(parts)


def crowded_events() -> st.SearchStrategy[dict[str, Any]]:
    """Events with some of the four attributes."""
    return st.dictionaries(st.sampled_from(_NAMES), st.integers(-1, 10) | st.sampled_from((2.5, None, "x")))


def check_histories(make: Callable[[], ConjunctiveEngine], examples: int = 30, steps: int = 25) -> None:
    """Drive engines through random histories and compare them with the meaning of the language at every step."""
    conditions = crowded_conjunctions() | conjunctions()
    positions = st.integers(0, 15)

    class History(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.engine = make()
            self.oracle: dict[int, Expression] = {}

        @rule(position=positions, condition=conditions)
        def add(self, position: int, condition: Expression) -> None:
            if position not in self.oracle:
                self.engine.add(position, condition)
                self.oracle[position] = condition

        @rule(wanted=st.lists(st.tuples(positions, conditions), max_size=8))
        def add_many(self, wanted: list[tuple[int, Expression]]) -> None:
            some = {position: each for position, each in wanted if position not in self.oracle}
            self.engine.add_many(list(some), list(some.values()))
            self.oracle |= some

        @rule(position=positions)
        def remove(self, position: int) -> None:
            if position in self.oracle:
                self.engine.remove(position)
                del self.oracle[position]

        @rule(some=st.lists(crowded_events() | events(), min_size=1, max_size=4))
        def match(self, some: list[dict[str, Any]]) -> None:
            for event in some:
                expected = [position for position in sorted(self.oracle) if self.oracle[position].matches(event)]
                before = self.engine.stats()["candidates"]
                assert sorted(self.engine.match(event)) == expected
                assert self.engine.stats()["candidates"] - before <= len(self.oracle)

        @invariant()
        def sound(self) -> None:
            self.engine.check_invariants()

    run_state_machine_as_test(
        History, settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    )
