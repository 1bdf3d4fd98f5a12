"""`tamis.Watch`: what users see."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import EXAMPLES
from tamis.notification import Watch, structures
from tamis.notification.law import high, low


def test_a_first_watch() -> None:
    watch = Watch()
    assert watch.subscribe("alice", radius=2.0) is None
    assert watch.update(100) == ["alice"]
    assert watch.subscribe("bob", radius=1) == 100.0
    assert watch.update(101) == ["bob"]
    assert sorted(watch.update(102)) == ["alice", "bob"]
    assert watch.update(102) == []
    assert watch.last_told("alice") == watch.value == 102.0
    watch.unsubscribe("alice")
    assert watch.update(200) == ["bob"]
    assert len(watch) == 1
    assert "alice" not in watch
    assert list(watch) == ["bob"]


def test_a_jump_over_several_radii_is_told_once_with_the_real_value() -> None:
    watch = Watch()
    watch.update(0)
    watch.subscribe("a", 1)
    assert watch.update(10.5) == ["a"]
    assert watch.last_told("a") == 10.5


def test_three_laws_and_two_radii_side_by_side() -> None:
    watch = Watch()
    watch.update(100)
    watch.subscribe("five percent", relative=0.05)
    watch.subscribe("a half more", factor=1.5)
    watch.subscribe("strict", radius=20)
    watch.subscribe("loose", radius=30, may=4)
    assert watch.update(104) == []
    assert watch.update(105) == ["five percent"]
    assert sorted(watch.update(150)) == ["a half more", "five percent", "loose", "strict"]
    assert watch.last_told("loose") == 150
    # It may be told from 4 on, but nobody of its kind must be.
    assert watch.update(155) == []
    assert sorted(watch.update(100)) == ["a half more", "five percent", "loose", "strict"]


def test_who_may_be_told_is_if_it_spares_a_range() -> None:
    watch = Watch()
    watch.update(0)
    for id, may, must in (("a", 2, 3), ("b", 3, 9), ("c", 4, 5)):
        watch.subscribe(id, radius=must, may=may)
    assert watch.update(5) == ["a", "b", "c"]
    (one,) = watch.affected_ranges()
    assert (one.low, one.high) == (2, 4)
    trimmed = Watch(trim=True)
    trimmed.update(0)
    for id, may, must in (("a", 2, 9), ("b", 4, 5), ("c", 5, 9)):
        trimmed.subscribe(id, radius=must, may=may)
    assert trimmed.update(5) == ["b"]


@pytest.mark.parametrize("engine", [name for name, case in structures().items() if case.radii != "same"])
def test_every_engine_gives_the_same_answers(engine: str) -> None:
    watch, judge = Watch(engine), Watch("oracle")
    for each in (watch, judge):
        each.subscribe_many(["a", "b", "c"], [2.0, 3.0, 5.0])
        each.update(10)
    for value in (12, 13, 9, 8, 15, 15, 5, 6, 7, 2):
        assert sorted(watch.update(value)) == sorted(judge.update(value))
    watch.check_invariants()


def test_ranges_are_those_of_the_last_update_whatever_came_after() -> None:
    watch = Watch()
    watch.subscribe_many(range(6), [1, 2, 3, 4, 5, 6])
    watch.update(0)
    told = watch.update(3)
    expected = watch.affected_ranges()
    watch.update(3.5)
    watch.update(6.5)
    before = Watch.restore(watch.snapshot())
    assert sorted(told) == [0, 1, 2]
    assert [(each.low, each.high) for each in expected] == [(1, 3)]
    told = watch.update(0)
    watch.subscribe("new", 2.5)
    watch.unsubscribe(3)
    assert before.update(0) == told
    assert watch.affected_ranges() == before.affected_ranges()
    places = {id: before.place(id) for id in before}
    assert {id for id, place in places.items() if any(r.meets(place) for r in before.affected_ranges())} == set(told)


def test_relaxed_creation_takes_over_the_centre_of_the_radius() -> None:
    watch = Watch(relaxed=True)
    watch.update(100)
    watch.subscribe("a", 10)
    watch.update(109)
    assert watch.subscribe("b", 10) == 100
    assert watch.subscribe("c", 9) == 109
    assert sorted(watch.update(110)) == ["a", "b"]


def test_stats_tell_what_the_last_update_did() -> None:
    watch = Watch()
    watch.subscribe_many(range(100), [1.0 + each for each in range(100)])
    watch.update(0)
    watch.update(50)
    stats = watch.stats()
    assert (stats["subscriptions"], stats["affected"], stats["ranges"]) == (100, 50, 1)
    assert 0 < stats["visits"] < 100


@pytest.mark.parametrize(
    ("radius", "message"),
    [
        (0, "radius is 0, but it must be above 0 and finite"),
        (-1, "radius is -1, but"),
        (math.nan, "radius is nan, but"),
        (math.inf, "radius is inf, but"),
        ("2", "radius is '2', but it must be a number"),
        (True, "radius is True, but it must be a number"),
        (10**400, "must be a number that a double can hold"),
    ],
)
def test_bad_radii(radius: object, message: str) -> None:
    watch = Watch()
    with pytest.raises(ValueError, match=message):
        watch.subscribe("a", radius)  # type: ignore[arg-type]
    assert len(watch) == 0


def test_bad_options() -> None:
    watch = Watch()
    with pytest.raises(ValueError, match="one of radius, relative and factor"):
        watch.subscribe("a")
    with pytest.raises(ValueError, match="one of radius, relative and factor"):
        watch.subscribe("a", 1, relative=0.1)
    with pytest.raises(ValueError, match="factor is 1, but it must be above 1"):
        watch.subscribe("a", factor=1)
    with pytest.raises(ValueError, match="may is 3, but it must not be above 2"):
        watch.subscribe("a", 2, may=3)
    with pytest.raises(ValueError, match="may is 0, but it must be above 0"):
        watch.subscribe("a", 2, may=0)
    with pytest.raises(ValueError, match="an id is a string or an integer, not tuple"):
        watch.subscribe(("a",), 2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no engine 'none'"):
        Watch("none")
    with pytest.raises(ValueError, match=r"row 1: the radius is -2\.0"):
        watch.subscribe_many(["a", "b"], [1, -2])
    with pytest.raises(ValueError, match="subscription 'a' occurs twice"):
        watch.subscribe_many(["a", "a"], [1, 2])
    with pytest.raises(ValueError, match="1 ids but 2 radii"):
        watch.subscribe_many(["a"], [1, 2])
    with pytest.raises(ValueError, match="there is no law 'log'"):
        watch.subscribe_many(["a"], [1], law="log")  # type: ignore[arg-type]
    assert len(watch) == 0


def test_unknown_and_repeated_ids() -> None:
    watch = Watch()
    watch.subscribe("a", 1)
    with pytest.raises(ValueError, match="subscription 'a' is there already"):
        watch.subscribe("a", 2)
    with pytest.raises(ValueError, match="subscription 'a' is there already"):
        watch.subscribe_many(["b", "a"], [1, 2])
    with pytest.raises(KeyError, match="there is no subscription 'b'"):
        watch.unsubscribe("b")
    with pytest.raises(KeyError, match="there is no subscription 'b'"):
        watch.last_told("b")
    with pytest.raises(ValueError, match="'a' has no place before the first value"):
        watch.place("a")
    assert watch.last_told("a") is None
    assert len(watch) == 1


def test_bad_values_change_nothing() -> None:
    watch = Watch()
    watch.subscribe("a", 1)
    for value in (math.nan, math.inf, -math.inf, "1", None):
        with pytest.raises(ValueError, match="value is"):
            watch.update(value)  # type: ignore[arg-type]
    assert watch.update(-5) == ["a"]
    with pytest.raises(ValueError, match=r"value is -5.0, but there are relative radii, which need values above 0"):
        watch.subscribe("b", relative=0.1)
    watch.update(5)
    watch.subscribe("b", relative=0.1)
    with pytest.raises(ValueError, match="there are relative radii"):
        watch.update(0)
    with pytest.raises(ValueError, match="value is nan"):
        watch.update_many([6.0, math.nan])
    assert watch.value == 5
    watch.unsubscribe("b")
    assert watch.update_many([0, 0.5, -1]) == [["a"], [], ["a"]]


def test_a_radius_that_is_lost_in_rounding_is_told_of_each_change() -> None:
    watch = Watch()
    watch.update(1e20)
    watch.subscribe("a", 1)
    assert watch.update(1e20) == []
    assert watch.update(math.nextafter(1e20, 0)) == ["a"]
    assert watch.update(math.nextafter(1e20, 0)) == []


doubles = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@settings(max_examples=EXAMPLES)
@given(
    radii=st.lists(st.floats(1e-3, 1e5), min_size=1, max_size=12),
    values=st.lists(st.one_of(doubles, st.integers(-3, 3)), max_size=30),
)
def test_doubles_are_judged_by_the_shared_predicate(radii: list[float], values: list[float]) -> None:
    watch = Watch()
    centres: dict[int, float] = {}
    published: set[float] = set()
    watch.subscribe_many(range(len(radii)), radii)
    for value in map(float, values):
        published.add(value)
        expected = {
            id
            for id, radius in enumerate(radii)
            if value != watch.value
            and (id not in centres or value >= high(0, centres[id], radius) or value <= low(0, centres[id], radius))
        }
        assert set(watch.update(value)) == expected
        centres |= dict.fromkeys(expected, value)
        assert {id: watch.last_told(id) for id in watch} == centres
        assert set(centres.values()) <= published


steps = st.lists(
    st.one_of(
        st.tuples(st.just("come"), st.integers(0, 20), st.integers(1, 9), st.integers(0, 3)),
        st.tuples(st.just("go"), st.integers(0, 20), st.just(0), st.just(0)),
        st.tuples(st.just("move"), st.integers(-9, 9), st.just(0), st.just(0)),
    ),
    max_size=40,
)


def played(watch: Watch, step: tuple[str, int, int, int]) -> object:
    what, number, size, kind = step
    if what == "come":
        if number in watch:
            return None
        options = (
            {"radius": size},
            {"relative": size / 64},
            {"factor": 1 + size / 64},
            {"radius": 2 * size, "may": size},
        )
        return watch.subscribe(number, **options[kind])
    if what == "go":
        if number in watch:
            watch.unsubscribe(number)
        return None
    told = watch.update(max(1, (watch.value or 100) + number))
    return told, watch.affected_ranges(), {id: watch.place(id) for id in watch}


@settings(max_examples=2 * EXAMPLES)
@given(steps=steps, crash=st.integers(0, 40))
def test_a_watch_that_crashed_goes_on_as_if_it_had_not(steps: list[tuple[str, int, int, int]], crash: int) -> None:
    watch = Watch()
    for step in steps[:crash]:
        played(watch, step)
    again = Watch.restore(watch.snapshot())
    again.check_invariants()
    for step in steps[crash:]:
        assert played(again, step) == played(watch, step)
    assert again.snapshot() == watch.snapshot()


@settings(max_examples=EXAMPLES)
@given(steps=steps)
def test_others_come_and_go_unnoticed(steps: list[tuple[str, int, int, int]]) -> None:
    # Not where there are two radii: there others decide whether one who may be told is.
    watch, alone = Watch(), Watch()
    for each in (watch, alone):
        each.subscribe_many(["x", "y"], [4.0, 6.0])
    for step in steps:
        if step[0] == "move":
            value = max(1, (watch.value or 100) + step[1])
            assert set(watch.update(value)) & {"x", "y"} == set(alone.update(value))
        else:
            played(watch, step)


def test_snapshots_of_other_things_are_refused() -> None:
    with pytest.raises(ValueError, match="this is no snapshot of a watch"):
        Watch.restore(b"something else")
    with pytest.raises(ValueError, match="this snapshot is damaged, or not one of a Watch"):
        Watch.restore(Watch().snapshot()[:-3])
