"""Events and conditions against the watch that they stand for."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import Watch, parse
from tamis.notification import published
from tamis.notification.affected import Place, Relabelling, Shift

#: Radii that meet often: with one number, with two, and of all laws.
ASKED: list[dict[str, float]] = [
    {"radius": 1},
    {"radius": 2.5},
    {"radius": 2.5},
    {"radius": 4, "may": 2.5},
    {"radius": 4, "may": 2.5},
    {"radius": 4, "may": 1},
    {"radius": 6.1},
    {"relative": 0.02},
    {"relative": 0.02},
    {"relative": 0.04, "may": 0.02},
    {"factor": 1.03},
    {"factor": 1.03},
    {"factor": 1.05, "may": 1.03},
]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("come"), st.integers(0, len(ASKED) - 1)),
        st.tuples(st.just("go"), st.integers(0, 50)),
        st.tuples(st.just("move"), st.sampled_from([1.0, -1.0, 2.5, -2.5, 0.5, -0.5, 4.0, -4.0, 8.0, -8.0])),
    ),
    max_size=50,
)


@pytest.mark.parametrize("relaxed", [False, True])
@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_each_one_affected_is_met_by_one_event_and_nobody_else_by_any(relaxed: bool, steps: list[Any]) -> None:
    watch = Watch(relaxed=relaxed)
    watch.update(100.0)
    value, fresh, update = 100.0, 0, 0
    live: dict[int, Place] = {}
    for what, detail in steps:
        if what == "come":
            watch.subscribe(fresh, **ASKED[detail])
            assert not watch.relabellings()
            live[fresh] = watch.place(fresh)
            fresh += 1
        elif what == "go" and live:
            gone = sorted(live)[detail % len(live)]
            watch.unsubscribe(gone)
            del live[gone]
        elif what == "move":
            value = max(20.0, value + detail)
            told = watch.update(value)
            update += 1
            events = published.events_of("it's", update, value, watch.affected_ranges())
            assert all(parse(published.advertisement("it's")).matches(event) for event in events)
            got = []
            for id, place in live.items():
                asked = [published.range_condition("it's", place, not relaxed)]
                asked += [] if relaxed else [published.label_condition("it's", place)]
                for event in events:
                    assert event["value"] == value
                    got += [id for text in asked if parse(text).matches(event)]
            assert sorted(got) == sorted(told)


def test_labels_that_change_are_learnt_by_event() -> None:
    watch = Watch()
    watch.update(0.0)
    watch.subscribe("first", 10)
    watch.update(5.0)
    watch.subscribe("last", 10)
    places = {id: watch.place(id) for id in watch}
    changes = 0
    # Each one belongs just before the one that came before it: one gap gets ever smaller.
    for number in range(40):
        watch.update(4.0 - number / 100)
        watch.subscribe(number, 10)
        for change in watch.relabellings():
            event = published.relabelling_event("x", change)
            changes += 1
            for id, place in places.items():
                assert parse(published.relabelling_condition("x", place)).matches(event)
                places[id] = published.relabelled(place, event)
        places[number] = watch.place(number)
        assert places == {id: watch.place(id) for id in watch}
    assert changes > 0


def test_what_a_subscription_asks_for_is_plain_text() -> None:
    place = Place("absolute", 2.5, 2.5, 7, 3)
    assert published.range_condition("ACME", place) == (
        "item = 'ACME' and kind = 'absolute' and low <= 2.5 and high >= 2.5 and not array_contains(partial, '2.5')"
    )
    assert published.range_condition("ACME", place, arcs=False) == (
        "item = 'ACME' and kind = 'absolute' and low <= 2.5 and high >= 2.5"
    )
    assert published.label_condition(9, place) == (
        "item = 9 and kind = 'absolute' and radius = '2.5' and epoch = 3 and first <= 7 and last >= 7"
    )


def test_an_arc_of_another_epoch_reaches_nobody() -> None:
    watch = Watch()
    watch.update(0.0)
    watch.subscribe("a", 10)
    watch.update(5.0)
    watch.subscribe("b", 10)
    watch.update(11.0)
    (arc,) = published.events_of("x", 1, 11.0, watch.affected_ranges())
    place = watch.place("a")
    assert parse(published.label_condition("x", place)).matches(arc)
    later = Relabelling("absolute", 10.0, 10.0, 1, (Shift(0, 5, 1),)).moved(place)
    assert (later.label, later.epoch) == (place.label, 1)
    assert not parse(published.label_condition("x", later)).matches(arc)


def test_a_relabelling_is_taken_once_and_none_is_left_out() -> None:
    change = Relabelling("absolute", 1.0, 1.0, 2, (Shift(10, 20, 5),))
    place = Place("absolute", 1.0, 1.0, 12, 1)
    moved = change.moved(place)
    assert (moved.label, moved.epoch) == (17, 2)
    assert change.moved(moved) == moved
    with pytest.raises(ValueError, match="of epoch 0, but it is relabelled to 2"):
        change.moved(Place("absolute", 1.0, 1.0, 12, 0))


def test_those_with_one_radius_and_those_with_two_are_kept_apart() -> None:
    watch = Watch()
    watch.subscribe("a", radius=2)
    watch.subscribe("b", radius=5)
    watch.subscribe("c", radius=10, may=3)
    watch.update(100)
    assert sorted(watch.update(105.5)) == ["a", "b"]
    assert [id for id in watch if any(each.meets(watch.place(id)) for each in watch.affected_ranges())] == ["a", "b"]
