import pytest

from tamis.simulation import Clock
from tamis.simulation.clock import random_clocks


def test_a_clock_has_an_offset_and_a_drift() -> None:
    clock = Clock(offset=100.0, drift=0.5)
    assert clock.shown(0) == 100
    assert clock.shown(10) == 115
    assert clock.lasts(15) == 10
    assert clock.shown(20 + clock.lasts(3)) == pytest.approx(clock.shown(20) + 3)


def test_a_clock_never_runs_backwards() -> None:
    with pytest.raises(ValueError, match="drift -1"):
        Clock(drift=-1.0)


def test_random_clocks_stay_within_bounds_and_come_from_the_seed() -> None:
    clocks = random_clocks(range(50), drift=1e-3, offset=2.0, seed=4)
    assert clocks == random_clocks(range(50), drift=1e-3, offset=2.0, seed=4)
    assert clocks != random_clocks(range(50), drift=1e-3, offset=2.0, seed=5)
    assert all(abs(clock.drift) <= 1e-3 and abs(clock.offset) <= 2 for clock in clocks.values())
    assert min(clock.drift for clock in clocks.values()) < 0 < max(clock.drift for clock in clocks.values())
