"""`CoverTable(graph="ranges")`: what several cover together is kept back, and nothing that is not certain."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from support.histories import crowded_conjunctions, crowded_events
from support.strategies import conjunctions, events, expressions
from tamis.covering.ranges import boxindex, ranks
from tamis.language import Expression

conditions = crowded_conjunctions() | expressions() | conjunctions()


def told(sent: set[Any], change: tamis.Change) -> None:
    assert sent.isdisjoint(change.forward)
    sent.update(change.forward)
    assert sent.issuperset(change.withdraw)
    sent.difference_update(change.withdraw)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 25), conditions), min_size=10, max_size=40),
    st.lists(crowded_events() | events(), min_size=10, max_size=10),
)
def test_nothing_is_lost_while_ranks_are_spread(steps: list[tuple[int, Expression]], published: list[Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # So little room, and so few boxes without a curve, that both are made anew all the time.
        patch.setattr(ranks, "ROOM", 150)
        patch.setattr(boxindex, "FEW", 4)
        table = tamis.CoverTable(graph="ranges")
        held: dict[int, Expression] = {}
        sent: set[Any] = set()
        for id, condition in steps:
            if id in held:
                del held[id]
                told(sent, table.remove(id))
            else:
                held[id] = condition
                told(sent, table.add(id, condition))
            table.check_invariants()
            for event in published:
                if any(each.matches(event) for each in held.values()):
                    assert any(held[each].matches(event) for each in sent)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_ranges_of_one_attribute_are_forwarded_only_if_they_add_something(parts: list[Any]) -> None:
    table = tamis.CoverTable(graph="ranges")
    union: set[float] = set()
    # Whole and half numbers: enough to tell open ends from closed ones.
    grid = [number / 2 for number in range(-1, 20)]
    for id, (low, high, open_low, open_high) in enumerate(parts):
        text = f"x {'>' if open_low else '>='} {low} and x {'<' if open_high else '<='} {high}"
        mine = {each for each in grid if tamis.parse(text).matches({"x": each})}
        assert bool(table.add(id, text).forward) is not (mine <= union)
        union |= mine


def test_several_together_keep_back_another() -> None:
    table = tamis.CoverTable(graph="ranges")
    assert table.add("low", "price between 0 and 10") == (("low",), ())
    assert table.add("high", "price > 10 and price <= 20") == (("high",), ())
    assert table.add("both", "price between 5 and 15 and symbol = 'ACME'") == ((), ())
    assert table.coverer_of("both") is None
    assert table.add("one", "price between 2 and 3") == ((), ())
    assert table.coverer_of("one") == "low"
    assert table.add("beyond", "price between 15 and 21") == (("beyond",), ())
    # Whoever is needed again is forwarded before the one that it needed goes.
    assert table.remove("high") == (("both",), ("high",))
    assert table.remove("low") == (("one",), ("low",))
    assert table.stats()["undecided"] == 0


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (("s >= 'ab' and s < 'b'", "s >= 'b'"), "s between 'ab' and 'temperature, a long text'"),
        (
            ("day <= date '2026-01-31'", "day >= date '2026-02-01'"),
            "day between date '2026-01-01' and date '2026-03-01'",
        ),
        (("n <= 9007199254740993", "n >= 9007199254740994"), "n between 0 and 9007199254740999 and m = 1"),
        (("x is not null", "x is null"), "(x is null or x > 4) and y < 3"),
        (("x is null or x < 3", "x >= 3"), "x <= 7"),
    ],
)
def test_values_of_every_kind(parts: tuple[str, ...], whole: str) -> None:
    table = tamis.CoverTable(graph="ranges")
    for id, text in enumerate(parts):
        assert table.add(id, text).forward == (id,)
    assert table.add("whole", whole).forward == ()
    assert "whole" in table.remove(0).forward


def test_what_is_between_two_neighbours_is_not_kept_back() -> None:
    table = tamis.CoverTable(graph="ranges")
    table.add(0, "n <= 9007199254740993")
    table.add(1, "n >= 9007199254740995")
    assert table.add(2, "n between 9007199254740993 and 9007199254740995").forward == (2,)
    assert table.add(3, "s = 'a long text that begins alike, a'").forward == (3,)
    assert table.add(4, "s = 'a long text that begins alike, b'").forward == (4,)


def test_what_is_no_box_is_forwarded_and_counted() -> None:
    table = tamis.CoverTable(graph="ranges")
    assert table.add("set", "x in (1, 3)").forward == ("set",)
    assert table.add("either", "x = 2 or y = 2").forward == ("either",)
    assert table.add("pattern", "s like '%a%'").forward == ("pattern",)
    assert table.stats()["undecided"] == 3
    # What they may match does not help others, what they surely match does.
    assert table.add("two", "x = 2").forward == ("two",)
    assert table.add("one", "x = 1 and y > 7").forward == ()
    # And all of them are kept back by what holds everything they may match.
    change = table.add("all", "x is not null or x is null")
    assert (change.forward, set(change.withdraw)) == (("all",), {"set", "either", "pattern", "two"})
    assert table.stats()["undecided"] == 0


def test_a_condition_of_too_many_clauses() -> None:
    table = tamis.CoverTable(graph="ranges")
    text = " and ".join(f"(a{n} = 1 or b{n} = 1)" for n in range(7))
    assert table.add(1, text).forward == (1,)
    assert table.add(2, "true") == ((2,), (1,))


def test_the_name_of_a_detector_is_checked() -> None:
    with pytest.raises(ValueError, match="no detector 'tree'"):
        tamis.CoverTable(graph="ranges", detector="tree")


def test_values_in_order_use_up_the_room_and_it_is_made_anew() -> None:
    table = tamis.CoverTable(graph="ranges")
    # Between the two ends of all before, so that the room is halved each time.
    for number in range(150):
        assert table.add(number, f"x between {number} and {1_000 - number}").forward == (
            (number,) if not number else ()
        )
    table.check_invariants()
    for number in range(149):
        assert table.remove(number) == ((number + 1,), (number,))
