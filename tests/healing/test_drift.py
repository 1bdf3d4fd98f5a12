import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.healing.drift import Reading, drift


def test_drift_is_in_parts_per_million() -> None:
    found = drift(Reading(100.0, 0.0), Reading(100.0 + 3600 * 1.00005, 3600.0))
    assert found.ppm == pytest.approx(50, abs=1e-6)
    assert found.error == 0
    assert found.bound == pytest.approx(5e-5)


def test_an_answer_lies_between_question_and_receipt() -> None:
    assert Reading.asked(sent=10.0, said=500.0, received=10.5) == Reading(10.25, 500.0, 0.25)


def test_ten_milliseconds_an_hour_are_a_few_ppm() -> None:
    assert drift(Reading(0, 0, 0.005), Reading(3600, 3600, 0.005)).error == pytest.approx(2.8, abs=0.03)


@given(
    st.floats(-500, 500),
    st.lists(st.tuples(st.floats(0, 0.5), st.floats(0, 0.5)), min_size=2, max_size=2),
    st.floats(60, 86_400),
)
def test_the_true_drift_is_within_the_error(ppm: float, ways: list[tuple[float, float]], apart: float) -> None:
    def asked(at: float, to: float, back: float) -> Reading:
        # The reference answers at the true time `at`, between the ways to it and back.
        rate = 1 + ppm / 1e6
        return Reading.asked(7 + rate * (at - to), at, 7 + rate * (at + back))

    found = drift(asked(0.0, *ways[0]), asked(apart, *ways[1]))
    # Half a round trip was measured with the drifting clock itself.
    assert abs(found.ppm - ppm) <= found.error * 1.001 + 1e-4
    assert found.bound >= abs(ppm) / 1e6 * 0.999 - 1e-9


def test_readings_at_the_same_time_tell_nothing() -> None:
    with pytest.raises(ValueError, match="within their error"):
        drift(Reading(0, 0, 0.5), Reading(1, 1, 0.5))
