import pytest

from tamis.lab.drifting import HOUR, STEP, Host, Server, measured


def test_a_steady_clock_is_measured_exactly_over_even_ways() -> None:
    found = measured(Host("h", 50.0, 0.0, 0.0), Server("s", 0.1, 1e-9), 24, 1)
    assert len(found.found) == len(found.true) == 24
    assert [each.ppm for each in found.found] == pytest.approx([50.0] * 24, abs=1e-3)
    # Half of both round trips, which might have been uneven.
    assert found.found[0].error == pytest.approx(2 * 0.1 / HOUR * 1e6, rel=1e-3)


def test_a_clock_that_jumps_moves_more() -> None:
    steady, jumping = Host("h", 0.0, 0.1, 0.1).drifts(240, 5), Host("h", 0.0, 0.1, 0.1, 0.2, 20.0).drifts(240, 5)
    assert len(steady) == 240 * HOUR / STEP
    assert max(jumping) - min(jumping) > 5 * (max(steady) - min(steady))
    assert Host("h", 0.0, 0.1, 0.1).drifts(240, 5) == steady
