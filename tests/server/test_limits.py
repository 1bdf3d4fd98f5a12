import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.server.limits import MAX_SUBSCRIPTIONS, Bucket, Limits


@given(
    rate=st.floats(0.1, 1e4),
    burst=st.integers(1, 50) | st.none(),
    waits=st.lists(st.floats(0, 2), min_size=1, max_size=60),
)
def test_never_more_pass_than_burst_and_rate_allow_and_who_waits_as_told_passes(
    rate: float, burst: int | None, waits: list[float]
) -> None:
    limits = Limits(rate=rate, burst=burst)
    bucket = Bucket()
    now = 0.0
    passed: list[float] = []
    for wait in waits:
        now += wait
        after = bucket.take(limits, now)
        if after:
            now += after * (1 + 1e-9) + 1e-9
            assert bucket.take(limits, now) == 0
        passed.append(now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            assert last - first + 1 <= limits.room + (passed[last] - passed[first]) * rate * (1 + 1e-6) + 1e-6


def test_without_a_rate_everything_passes() -> None:
    bucket = Bucket()
    assert not any(bucket.take(Limits(), 0.0) for _ in range(10_000))


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 0.0},
        {"rate": float("inf")},
        {"rate": float("nan")},
        {"burst": 0},
        {"subscriptions": 0},
        {"subscriptions": MAX_SUBSCRIPTIONS + 1},
        {"condition": 1 << 17},
        {"connections": -1},
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        Limits(**wrong)  # type: ignore[arg-type]
