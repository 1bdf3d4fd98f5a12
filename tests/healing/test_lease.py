"""Leases end when the survival lemma says so, and are as long as their policy says (specs/004 §7, §10 (11))."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.healing import Leases
from tamis.healing.lease import LONGEST, Extension, LeaseTable

#: Times are of the form n / 1024 s, so that sums of them are exact.
TICK = 1 / 1024
EXTENSIONS = st.sampled_from(("none", "bound", "uncertainty"))


def table(extension: Extension = "none", interval: float = 1.0, refresh: float = 0.8125) -> LeaseTable[str]:
    return LeaseTable(Leases(interval=interval, refresh=refresh, extension=extension))


@given(
    extension=EXTENSIONS,
    interval=st.integers(2, 900),
    period=st.integers(1, 899),
    delays=st.lists(st.integers(0, 900), min_size=2, max_size=40),
    errors=st.lists(st.integers(0, 50), min_size=40, max_size=40),
)
def test_survival_lemma(extension: Extension, interval: int, period: int, delays: list[int], errors: list[int]) -> None:
    """Refresh k + 1 comes in time if and only if pd(k + 1) - pd(k) <= T_I - period + ext(k)."""
    period = min(period, interval - 1)
    leases = table(extension, interval * TICK, period * TICK)
    previous = None
    arrived = -1
    for number, (delay, error) in enumerate(zip(delays, errors, strict=False)):
        # A link keeps the order: one that is late holds up those behind it.
        arrival = max(number * period + delay, arrived)
        arrived, delay = arrival, arrival - number * period
        now = arrival * TICK
        ended = leases.ended(now)
        used = leases.grant("x", now, (delay + error) * TICK)
        leases.check_invariants()
        if previous is not None:
            before, lasting = previous
            survives = (delay - before) * TICK <= (interval - period) * TICK + lasting
            assert (used is not None) == survives == (not ended)
            if used is not None:
                assert used == pytest.approx((period + delay - before) * TICK / (interval * TICK + lasting))
                assert used <= 1
        previous = delay, leases["x"].extension


@given(
    ages=st.lists(st.floats(0, 5), min_size=1, max_size=30),
    window=st.integers(1, 8),
    unit=st.sampled_from(("seconds", "messages")),
)
def test_extensions(ages: list[float], window: int, unit: str) -> None:
    bound = table("bound")
    uncertain: LeaseTable[str] = LeaseTable(
        Leases(interval=10, refresh=1, extension="uncertainty", window=window, window_of=unit)  # type: ignore[arg-type]
    )
    none = table()
    for number, age in enumerate(ages):
        for leases in (bound, uncertain, none):
            leases.grant("x", number, age)
        assert none["x"].extension == 0
        assert bound["x"].extension == age
        inside = ages[max(0, number - window + (unit == "messages")) : number + 1]
        assert uncertain["x"].extension == (age if len(inside) < 2 else max(inside) - min(inside))


def test_each_row_has_its_own_window() -> None:
    leases = table("uncertainty")
    leases.grant("x", 0.0, 0.5)
    leases.grant("y", 0.1, 0.1)
    leases.grant("x", 0.8, 0.6)
    assert leases["x"].extension == pytest.approx(0.1)
    assert leases["y"].extension == pytest.approx(0.1)


@pytest.mark.parametrize("age", [None, math.inf, math.nan, -1.0])
@pytest.mark.parametrize("extension", ["bound", "uncertainty"])
def test_an_age_that_nobody_knows_makes_no_lease_longer(age: float | None, extension: Extension) -> None:
    leases = table(extension)
    leases.grant("x", 5.0, age)
    assert leases["x"].until == 6.0
    leases.grant("x", 5.5, 0.25)
    assert leases["x"].extension == 0.25


def test_no_lease_is_for_ever() -> None:
    leases = table("bound")
    leases.grant("x", 0.0, 1e9)
    assert leases["x"].extension == LONGEST
    assert leases.ended(LONGEST + 1.001) == ["x"]


def test_golden_utilisation() -> None:
    """specs/004 §7: T_I = 1, refreshed every 0.8 s: 80 % without extension, 57 % with one of 0.4 s."""
    plain, bound = table(), table("bound")
    for leases in (plain, bound):
        assert leases.grant("x", 0.4, 0.4) is None
    assert plain.grant("x", 1.2, 0.4) == pytest.approx(0.8)
    assert bound.grant("x", 1.2, 0.4) == pytest.approx(0.8 / 1.4)


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(("grant", "drop", "wait")), st.integers(0, 5), st.integers(0, 40)), max_size=60
    )
)
def test_what_ends_and_when_against_a_dictionary(steps: list[tuple[str, int, int]]) -> None:
    leases = table("bound", interval=8.0, refresh=1.0)
    oracle: dict[str, float] = {}
    now = 0.0
    for kind, row, number in steps:
        name = str(row)
        if kind == "grant":
            known = name in oracle
            assert (leases.grant(name, now, number) is not None) == known
            oracle[name] = now + 8 + number
        elif kind == "drop":
            leases.drop(name)
            oracle.pop(name, None)
        else:
            now += number
            gone = {each for each, until in oracle.items() if until < now}
            ends = leases.next_end()
            assert not oracle or (ends is not None and ends <= min(oracle.values()))
            assert set(leases.ended(now)) == gone
            for each in gone:
                del oracle[each]
        assert {each: leases[each].until for each in leases} == oracle
        leases.check_invariants()


def test_a_clock_that_goes_back_grants_leases_anew() -> None:
    leases = table("bound")
    leases.grant("x", 1000.0, 0.5)
    leases.grant("y", 1000.5, 0.0)
    leases.rewind(3.0)
    leases.check_invariants()
    assert leases.ended(4.2) == ["y"]
    assert leases.ended(4.6) == ["x"]


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"refresh": 1.0}, "refreshed before it ends"),
        ({"refresh": 0.0}, "refreshed before it ends"),
        ({"interval": math.inf}, "refreshed before it ends"),
        ({"window": 0}, "window is positive"),
        ({"window": 2.5, "window_of": "messages"}, "whole number of messages"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, float], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        Leases(**settings)  # type: ignore[arg-type]
