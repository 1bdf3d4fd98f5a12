"""Chains of hosts: the same delays for all policies, ages that are true, and Nagle's batches."""

from itertools import islice

import pytest

from tamis.healing import Leases
from tamis.lab.lease_chains import STEP, Chain, delays, present, refreshed

CHAIN = Chain("short", ("here", "near", "far"), (200.0, 4000.0))


def test_the_seed_decides_about_delays_and_one_refresh_is_slow() -> None:
    plain = list(islice(delays(CHAIN, 3, {}), 5))
    slow = list(islice(delays(CHAIN, 3, {2: (1, 0.5)}), 5))
    assert slow[2][1] == plain[2][1] + 0.5
    slow[2][1] = plain[2][1]
    assert slow == plain
    assert all(latency >= least for drawn in plain for latency, least in zip(drawn, CHAIN.least(), strict=True))


def test_true_ages_are_sums_of_delays_and_bounds_are_above_them() -> None:
    drawn = list(islice(delays(CHAIN, 3, {}), 9))[1:]
    near, far = refreshed(CHAIN, Leases(extension="bound"), 8, 3, {})
    assert [each.age for each in near] == pytest.approx([one for one, _ in drawn], abs=1e-6)
    assert [each.age for each in far] == pytest.approx([one + other for one, other in drawn], abs=1e-6)
    assert all(each.bound >= each.age for each in near + far)
    assert all(each.extension == each.bound for each in near + far)


def test_utilisation_says_whether_a_lease_ended() -> None:
    near, far = refreshed(CHAIN, Leases(), 6, 3, {4: (1, 0.3)})
    assert all(each.used < 1 for each in near)
    assert [each.used > 1 for each in far] == [False, False, False, True, False, False]


def test_a_refresh_that_overtakes_nothing_but_takes_too_long_is_told() -> None:
    with pytest.raises(ValueError, match="refresh 2 took too long to broker 1"):
        refreshed(CHAIN, Leases(), 3, 3, {2: (0, 2.0)})


def test_batches_make_an_advertisement_absent_between_them() -> None:
    leases = Leases(interval=0.02, refresh=0.016)
    batches, at_once = (present(CHAIN, leases, 0.8, 3, how)[1] for how in (True, False))
    round_trip = 2 * CHAIN.least()[1]
    seen = batches[batches.index(True) :]
    assert sum(seen) / len(seen) == pytest.approx(0.02 / round_trip, abs=0.12)
    assert sum(at_once) > 1.5 * sum(batches)
    assert len(batches) == round(0.8 / STEP)
