"""Conditions to bits to interfaces, with bits that collide and bits that are given."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from support.strategies import conjunctions, events, expressions
from tamis.language import parse
from tamis.routing.bloom import Places, Store, filters_of, tables
from tamis.sketches import Hashes

NAMES = sorted(tables())

#: Table 5.1 (specs/004 §5): the bits of its predicates, whose hash functions are not known.
GIVEN: dict[str, Places] = {
    "x > 5": (6066, 8581),
    "x >= 0.7": (2787, 12518),
    "x > 15": (6441, 10582),
    "y < 5": (5037, 8516),
    "y = 0": (5001, 8507),
    "y > 0": (5102, 8636),
}


def text_of(predicate: str) -> str:
    [[found]] = filters_of(predicate).filters
    return found.text


GOLDEN = {text_of(predicate): places for predicate, places in GIVEN.items()}


@pytest.mark.parametrize("name", NAMES)
def test_table_5_1(name: str) -> None:
    store = Store(name, 1 << 14, GOLDEN.__getitem__)
    for number, condition in enumerate((*list(GIVEN)[:5], "x > 15 and y > 0"), start=1):
        assert store.add(condition, f"f{number}")
    bits = store.bits_of({"x": 7, "y": -2})
    assert bits == (2787, 5037, 6066, 8516, 8581, 12518)
    assert store.interfaces(bits) == ["f1", "f2", "f4"]
    bits = store.bits_of({"x": 3})
    assert bits == (2787, 12518)
    assert store.interfaces(bits) == ["f2"]
    assert store.interfaces(store.bits_of({"x": 16, "y": 1})) == ["f1", "f2", "f3", "f4", "f6"]


def histories(name: str, hashes: Hashes) -> type[RuleBasedStateMachine]:
    conditions = st.one_of(conjunctions(), expressions(5)).map(str)
    pairs = st.tuples(conditions, st.integers(0, 3))

    class History(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.store = Store(name, hashes.bits, hashes.places)
            self.oracle: dict[tuple[str, int], None] = {}

        @rule(some=st.lists(pairs, min_size=1, max_size=4))
        def add(self, some: list[tuple[str, int]]) -> None:
            for each in some:
                news = self.store.add(*each)
                assert news is (each not in self.oracle and bool(filters_of(each[0]).filters))
                self.oracle[each] = None

        @precondition(lambda self: self.oracle)
        @rule(data=st.data())
        def remove(self, data: st.DataObject) -> None:
            for each in data.draw(st.sets(st.sampled_from(list(self.oracle)), min_size=1, max_size=4)):
                assert self.store.remove(*each) is bool(filters_of(each[0]).filters)
                del self.oracle[each]

        @rule(some=st.lists(events(), min_size=1, max_size=3))
        def match(self, some: list[dict[str, Any]]) -> None:
            for event in some:
                wanted = {to for condition, to in self.oracle if parse(condition).matches(event)}
                found = set(self.store.interfaces(self.store.bits_of(event)))
                assert wanted <= found
                if hashes.bits > 8 and not self.store.blunt:
                    assert wanted == found

        @invariant()
        def sound(self) -> None:
            self.store.check_invariants()
            assert self.store.blunt == sum(filters_of(condition).blunt for condition, _ in self.oracle)

    return History


@pytest.mark.parametrize("name", NAMES)
def test_colliding_bits_lose_nothing(name: str) -> None:
    """With 8 bits nearly everything collides (specs/004 §10, 8)."""
    run_state_machine_as_test(
        histories(name, Hashes(8, 2)), settings=settings(max_examples=8, stateful_step_count=12, deadline=None)
    )


@pytest.mark.parametrize("name", ["sbstree", "counting", "skiptree"])
def test_with_bits_enough_it_is_exact(name: str) -> None:
    """With 2**40 bits nothing collides. A matrix has a column for each bit."""
    run_state_machine_as_test(
        histories(name, Hashes(1 << 40, 2)), settings=settings(max_examples=8, stateful_step_count=12, deadline=None)
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_filter_that_collides_with_another_of_its_interface_is_known(name: str) -> None:
    """[FIX] Were `y = 2` taken for a repetition of `x = 1`, an event would never get its bit."""
    store = Store(name, 8, lambda _: (3,))
    assert store.add("x = 1", "a")
    assert store.add("y = 2", "a")
    assert store.interfaces(store.bits_of({"y": 2})) == ["a"]
    assert store.remove("x = 1", "a")
    assert store.interfaces(store.bits_of({"y": 2})) == ["a"]
    assert store.interfaces(store.bits_of({"x": 1})) == []


def test_clauses_of_one_condition_may_have_the_same_bits() -> None:
    store = Store("sbstree", 8, lambda _: (3,))
    store.add("x = 1 or y = 2", "a")
    for event in ({"x": 1}, {"y": 2}):
        assert store.interfaces(store.bits_of(event)) == ["a"]
    store.remove("x = 1 or y = 2", "a")
    assert store.bits_of({"x": 1, "y": 2}) == ()
    assert len(store.table) == 0


def test_conditions_of_one_interface_may_share_a_clause() -> None:
    hashes = Hashes()
    store = Store("sbstree", hashes.bits, hashes.places)
    store.add("x = 1 or y = 2", "a")
    store.add("x = 1 or z = 3", "a")
    store.remove("x = 1 or y = 2", "a")
    assert store.interfaces(store.bits_of({"x": 1})) == ["a"]


def test_a_condition_with_too_many_clauses_gets_everything_and_is_counted() -> None:
    condition = " and ".join(f"(a{n} = 1 or b{n} = 1)" for n in range(20))
    hashes = Hashes()
    store = Store("counting", hashes.bits, hashes.places)
    store.add(condition, "a")
    assert store.blunt == 1
    assert store.interfaces(store.bits_of({"z": 1})) == ["a"]
    store.remove(condition, "a")
    assert store.blunt == 0
    assert store.interfaces(store.bits_of({"z": 1})) == []


def test_filters_kept_back_because_others_cover_them_lose_events() -> None:
    """Why filters spread by identity and never by covering (specs/004 §5, §10.12).

    A line of three brokers: at the far end both `x > 5` and `x > 8` are wanted, by different clients. Had only the
    former, which covers the latter, come to the broker where events enter, it would not set the bits of `x > 8`.
    """
    hashes = Hashes()
    last = Store("sbstree", hashes.bits, hashes.places)
    last.add("x > 5", "wide")
    last.add("x > 8", "narrow")
    first = Store("sbstree", hashes.bits, hashes.places)
    first.add("x > 5", "next")
    bits = first.bits_of({"x": 9})
    assert first.interfaces(bits) == ["next"]
    assert last.interfaces(bits) == ["wide"], "x > 8 was lost"
    first.add("x > 8", "next")
    assert last.interfaces(first.bits_of({"x": 9})) == ["wide", "narrow"]
