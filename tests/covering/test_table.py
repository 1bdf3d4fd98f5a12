"""`tamis.CoverTable`: every event that matches a subscription matches a forwarded one, whatever comes and goes."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import tamis
from support.histories import crowded_conjunctions, crowded_events
from support.strategies import conjunctions, events, expressions
from tamis.covering.detectors import detectors
from tamis.covering.keeper import keepers
from tamis.covering.table import Id
from tamis.language import Expression, Or

TABLES: dict[str, Callable[[], tamis.CoverTable]] = {
    **{name: lambda name=name: tamis.CoverTable(graph=name) for name in keepers()},  # type: ignore[misc]
    **{name: lambda name=name: tamis.CoverTable(k=2, detector=name) for name in detectors()},  # type: ignore[misc]
}
MINIMAL = ("dense", "poset", "forest")
crowded = st.lists(crowded_conjunctions(), min_size=1, max_size=2).map(
    lambda parts: parts[0] if len(parts) == 1 else Or(tuple(parts))
)


def histories(name: str, conditions: st.SearchStrategy[Expression], decidable: bool) -> type[RuleBasedStateMachine]:
    ids = st.integers(0, 20)

    class History(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.table = TABLES[name]()
            self.oracle: dict[Id, Expression] = {}
            self.sent: set[Any] = set()

        @rule(id=ids, condition=conditions, as_text=st.booleans())
        def add(self, id: int, condition: Expression, as_text: bool) -> None:
            given = str(condition) if as_text else condition
            if id in self.oracle:
                with pytest.raises(ValueError, match="is there already"):
                    self.table.add(id, given)
            else:
                self.oracle[id] = condition
                self.tell(self.table.add(id, given))

        @precondition(lambda self: self.oracle)
        @rule(data=st.data(), id=ids)
        def add_again(self, data: st.DataObject, id: int) -> None:
            if id not in self.oracle:
                self.oracle[id] = self.oracle[data.draw(st.sampled_from(list(self.oracle)))]
                assert not self.table.add(id, self.oracle[id]).forward

        @rule(id=ids)
        def remove(self, id: int) -> None:
            if id in self.oracle:
                del self.oracle[id]
                self.tell(self.table.remove(id))
            else:
                with pytest.raises(KeyError):
                    self.table.remove(id)

        def tell(self, change: tamis.Change) -> None:
            assert self.sent.isdisjoint(change.forward)
            self.sent.update(change.forward)
            assert self.sent.issuperset(change.withdraw)
            self.sent.difference_update(change.withdraw)

        @rule(some=st.lists(crowded_events() | events(), min_size=1, max_size=5))
        def publish(self, some: list[dict[str, Any]]) -> None:
            for event in some:
                if any(condition.matches(event) for condition in self.oracle.values()):
                    assert any(self.oracle[id].matches(event) for id in self.sent)

        @invariant()
        def forwarded_is_what_was_told(self) -> None:
            assert len(self.table.forwarded()) == len(self.sent)
            assert set(self.table.forwarded()) == self.sent
            assert set(self.table) == self.oracle.keys()
            assert len(self.table) == len(self.oracle)
            self.table.check_invariants()

        @invariant()
        def the_rest_is_covered(self) -> None:
            for id, condition in self.oracle.items():
                coverer = self.table.coverer_of(id)
                if coverer is None:
                    # What several cover has no single coverer; that nothing is lost is tested with events.
                    assert id in self.sent or tamis.covers("false", condition) or name == "ranges"
                else:
                    assert coverer in self.sent
                    assert not decidable or tamis.covers(self.oracle[coverer], condition)

        @invariant()
        def nothing_is_forwarded_in_vain(self) -> None:
            if decidable and name in MINIMAL:
                assert self.table.stats()["undecided"] == 0
                for id in self.sent:
                    for other in self.sent - {id}:
                        assert not tamis.covers(self.oracle[other], self.oracle[id])

    return History


@pytest.mark.parametrize("name", TABLES)
def test_histories_of_decidable_conditions(name: str) -> None:
    run_state_machine_as_test(
        histories(name, crowded, decidable=True),
        settings=settings(max_examples=6, stateful_step_count=20, deadline=None),
    )


@pytest.mark.parametrize("name", TABLES)
def test_histories_of_any_conditions(name: str) -> None:
    run_state_machine_as_test(
        histories(name, expressions() | conjunctions(), decidable=False),
        settings=settings(max_examples=5, stateful_step_count=20, deadline=None),
    )


def test_a_day_in_the_life() -> None:
    table = tamis.CoverTable()
    assert table.add("wide", "price > 10") == (("wide",), ())
    assert table.add("narrow", "price > 20 and symbol = 'A'") == ((), ())
    assert table.coverer_of("narrow") == "wide"
    assert table.coverer_of("wide") is None
    assert table.forwarded() == ["wide"]
    assert table.remove("wide") == (("narrow",), ("wide",))
    assert table.remove("narrow") == ((), ("narrow",))
    assert len(table) == 0


def test_only_some_graphs_take_back_what_a_newcomer_covers() -> None:
    for graph, withdrawn in (("flat", ()), *((name, ("narrow",)) for name in (*MINIMAL, "ranges"))):
        table = tamis.CoverTable(graph=graph)
        table.add("narrow", "price > 20")
        assert table.add("wide", "price > 10") == (("wide",), withdrawn)


@pytest.mark.parametrize("name", TABLES)
def test_equal_conditions_are_forwarded_once(name: str) -> None:
    table = TABLES[name]()
    table.add(1, "x > 1 and y = 2")
    assert table.add(2, "y = 2.0 and not (x <= 1)") == ((), ())
    assert table.add(3, "y in (2) and x > 1 and x > 0") == ((), ())
    assert table.coverer_of(3) == 1
    assert table.stats()["distinct"] == 1
    assert table.remove(3) == ((), ())
    # Another takes the place of the one that was forwarded.
    assert table.remove(1) == ((2,), (1,))
    assert table.remove(2) == ((), (2,))


@pytest.mark.parametrize("name", TABLES)
def test_equal_conditions_of_different_form_do_not_cover_each_other_in_a_circle(name: str) -> None:
    table = TABLES[name]()
    equal = (
        "x = 1 or y = 1",
        "(x = 1 and y <> 1) or y = 1 or (x = 1 and y is null) or (x = 1 and y = 1)",
        "x = 1 or (y = 1 and x <> 1) or (y = 1 and x is null) or (y = 1 and x = 1)",
    )
    for id, text in enumerate(equal):
        table.add(id, text)
    for id in range(3):
        assert len(table.forwarded()) >= 1
        table.remove(id)


def test_a_conjunction_is_not_the_disjunction_of_the_same_parts() -> None:
    table = tamis.CoverTable()
    table.add("both", "x = 1 and y = 1")
    assert table.add("either", "x = 1 or y = 1").forward == ("either",)


@pytest.mark.parametrize("name", TABLES)
def test_what_never_matches_is_never_forwarded(name: str) -> None:
    table = TABLES[name]()
    for id, text in enumerate(("x > 1 and x < 0", "false", "x = 1 and (x = 2 or x = 3)", "d > date '9999-12-31'")):
        assert table.add(id, text) == ((), ())
        assert table.coverer_of(id) is None
        assert id in table
    assert table.stats()["never"] == len(table) == 4
    assert table.remove(2) == ((), ())
    assert 2 not in table


@pytest.mark.parametrize("name", TABLES)
def test_what_always_matches_covers_all(name: str) -> None:
    table = TABLES[name]()
    table.add("all", "true")
    assert table.add("a", "x = 1 or y = 2") == ((), ())
    assert table.add("b", "array_contains(t, 'x')") == ((), ())
    assert set(table.remove("all").forward) == {"a", "b"}


def test_what_is_not_known_is_forwarded_and_counted() -> None:
    table = tamis.CoverTable()
    table.add("a", "s like '%a%'")
    assert table.stats()["undecided"] == 0
    assert table.add("b", "s like '%b%'").forward == ("b",)
    assert table.stats()["undecided"] == 1
    table.remove("b")
    assert table.stats()["undecided"] == 0


def test_candidates_that_do_not_cover_are_passed_over() -> None:
    table = tamis.CoverTable()
    # Their boxes reach from 0 to 1000, but only the last has what is asked for.
    for hole in range(60):
        table.add(hole, f"x >= 0 and x <= 1000 and x <> {500 if hole < 59 else 1} and x <> {hole + 2}")
    table.add("covered", "x in (499, 500, 501)")
    assert table.coverer_of("covered") == 59
    stats = table.stats()
    assert stats["candidates"] > stats["confirmed"]


def test_many_sets_of_attributes() -> None:
    table = tamis.CoverTable()
    for one in range(12):
        for other in range(one):
            table.add(f"{one}-{other}", f"a{one} > 1 and a{other} > 1")
    assert table.stats()["attribute_sets"] == 66
    table.add("covered", "a3 > 2 and a7 > 2 and z = 1")
    assert table.coverer_of("covered") == "7-3"
    table.add("wide", " and ".join(f"a{n} > 2" for n in range(12)))
    assert table.coverer_of("wide") is not None


@pytest.mark.parametrize("id", [None, 1.5, True, ("a",), ["a"]])
def test_an_id_is_a_string_or_an_integer(id: Any) -> None:
    table = tamis.CoverTable()
    table.add(1, "x = 1")
    with pytest.raises(ValueError, match="an id is a string or an integer, not"):
        table.add(id, "x = 1")
    with pytest.raises(ValueError, match="an id is a string or an integer, not"):
        table.remove(id)
    assert len(table) == 1


def test_what_is_refused_changes_nothing() -> None:
    table = tamis.CoverTable()
    table.add("a", "x > 1")
    with pytest.raises(tamis.ExpressionError):
        table.add("b", "x >")
    with pytest.raises(TypeError, match="not NoneType"):
        table.add("b", None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="subscription 'a' is there already"):
        table.add("a", "y > 1")
    with pytest.raises(KeyError, match="no subscription 'b'"):
        table.remove("b")
    with pytest.raises(KeyError, match="no subscription 'b'"):
        table.coverer_of("b")
    assert "b" not in table
    assert table.forwarded() == ["a"]
    assert table.stats()["subscriptions"] == 1


def test_a_table_that_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="no graph 'tree'; there are: dense, flat, forest, poset, ranges"):
        tamis.CoverTable(graph="tree")
    with pytest.raises(ValueError, match=r"no detector 'tree'; there are: counting, .*kdtree"):
        tamis.CoverTable(detector="tree")
    with pytest.raises(ValueError, match="k is 0"):
        tamis.CoverTable(k=0)
    with pytest.raises(ValueError, match="k is for graph='flat', not for 'forest'"):
        tamis.CoverTable(graph="forest", k=2)
