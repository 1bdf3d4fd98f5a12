"""The sbsposet against its theorem: the bits of an event are those of all predicates that it meets."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from support.strategies import conjunctions, events
from tamis.language import Kind
from tamis.language.values import read
from tamis.routing.bloom import Predicate, SbsPoset, filters_of, sbsposet
from tamis.sketches import Hashes

HASHES = Hashes(bits=1 << 10)
#: Ranges on one attribute, so that diagrams are deep.
ENDS = st.integers(0, 9)
RANGES = (
    st.builds("x > {}".format, ENDS)
    | st.builds("x <= {}".format, ENDS)
    | st.builds("x between {} and {}".format, ENDS, ENDS)
    | st.builds("x = {}".format, ENDS)
    | st.builds("x <> {}".format, ENDS)
    | st.builds("x in ({}, {}, {})".format, ENDS, ENDS, ENDS)
    | st.builds("x is {}".format, st.sampled_from(("null", "not null")))
    | st.builds("x like '{}'".format, st.sampled_from(("%a%", "%ab%", "ab%", "%b", "a_b%", "ab")))
)
NUMBERS = st.dictionaries(st.sampled_from("xy"), st.integers(-1, 10) | st.sampled_from((None, "ab", "xaby", 2.5)))


def predicates(condition: str) -> list[Predicate]:
    return [each for found in filters_of(condition).filters for each in found]


class History(RuleBasedStateMachine):
    """Predicates come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.poset = SbsPoset()
        self.held: Counter[str] = Counter()
        self.known: dict[str, Predicate] = {}

    @rule(some=st.lists(RANGES | conjunctions().map(str), min_size=1, max_size=8))
    def add(self, some: list[str]) -> None:
        for condition in some:
            for each in predicates(condition):
                self.poset.add(each, HASHES.places(each.text))
                self.held[each.text] += 1
                self.known[each.text] = each

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        held = sorted(self.held.elements())
        for text in data.draw(st.lists(st.sampled_from(held), min_size=1, max_size=6)):
            if self.held[text]:
                self.poset.remove(self.known[text])
                self.held[text] -= 1
        self.held = +self.held

    @rule(some=st.lists(events() | NUMBERS, min_size=1, max_size=4))
    def match(self, some: list[dict[str, Any]]) -> None:
        for event in some:
            met = [t for t in self.held if self.known[t].met_by(*read(event, self.known[t].attribute), event)]
            assert self.poset.match(event) == tuple(sorted({place for text in met for place in HASHES.places(text)}))

    @invariant()
    def sound(self) -> None:
        self.poset.check_invariants()
        assert len(self.poset) == len(self.held)


def test_theorem_after_any_history() -> None:
    run_state_machine_as_test(History, settings=settings(max_examples=30, stateful_step_count=12, deadline=None))


@given(st.lists(RANGES | conjunctions().map(str), min_size=1, max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_layout_does_not_depend_on_the_order(some: list[str], random: Any) -> None:
    def layout(conditions: list[str]) -> object:
        poset = SbsPoset()
        for condition in conditions:
            for each in predicates(condition):
                poset.add(each, HASHES.places(each.text))
        return poset.layout()

    expected = layout(some)
    random.shuffle(some)
    assert layout(some) == expected


def test_a_predicate_between_two_takes_its_place_and_gives_it_back() -> None:
    poset = SbsPoset()
    [wide], [middle], [narrow] = (predicates(f"x >= {low}") for low in (0, 1, 2))
    poset.add(wide, (1,))
    poset.add(narrow, (3,))
    poset.add(middle, (2,))
    assert poset.layout() == {"x": {(None, wide.text), (wide.text, middle.text), (middle.text, narrow.text)}}
    poset.remove(middle)
    assert poset.layout() == {"x": {(None, wide.text), (wide.text, narrow.text)}}
    assert poset.match({"x": 5}) == (1, 3)


def test_a_predicate_is_gone_when_the_last_filter_with_it_is() -> None:
    poset = SbsPoset()
    [some] = predicates("x > 1")
    poset.add(some, (1, 2))
    poset.add(some, (1, 2))
    poset.remove(some)
    assert poset.match({"x": 2}) == (1, 2)
    poset.remove(some)
    assert poset.match({"x": 2}) == ()
    assert len(poset) == 0
    assert poset.layout() == {}


@pytest.mark.parametrize(
    ("condition", "event"),
    [
        ("x is null", {}),
        ("x is null", {"x": None}),
        ("n.x is null", {"n": {"y": 1}}),
        ("n.x = 1", {"n": {"x": 1}}),
        ("`odd name` = 1", {"odd name": 1}),
        ("array_contains(x, 1)", {"x": [1, 2]}),
        ("x = 1", {"x": 1.0}),
        ("x is null or x = 1", {}),
    ],
)
def test_attributes_are_found_where_they_are(condition: str, event: dict[str, Any]) -> None:
    poset = SbsPoset()
    for each in predicates(condition):
        poset.add(each, (7,))
    assert poset.match(event) == (7,)


def test_only_attributes_of_the_event_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network may know very many attributes; an event has few."""
    asked: list[str] = []

    def watched(event: dict[str, Any], name: str) -> tuple[Kind, Any]:
        asked.append(name)
        return read(event, name)

    monkeypatch.setattr(sbsposet, "read", watched)
    poset = SbsPoset()
    for number in range(100):
        for each in predicates(f"a{number} > 1"):
            poset.add(each, (number,))
    [absent] = predicates("b is null")
    poset.add(absent, (500,))
    assert poset.match({"a7": 2, "c": 1}) == (7, 500)
    assert sorted(asked) == ["a7", "b"]
