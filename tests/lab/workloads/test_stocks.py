import numpy as np
import pytest

from tamis.lab.workloads import Stocks, generate


def test_prices_start_where_told_and_stay_above_zero() -> None:
    workload = generate(Stocks(subscriptions=100, events=20_000, volatility=0.08))
    assert workload.values.shape == (5, 20_001)
    assert (workload.values[:, 0] == 50_00).all()
    assert workload.values.min() == 1


def test_changes_of_the_history_are_replayed() -> None:
    spec = Stocks(stocks=1, subscriptions=1, events=3_000, fewest_days=1_000, most_days=1_000, volatility=0.005)
    changes = np.diff(generate(spec).values[0])
    assert changes[:999].tolist() == changes[999:1998].tolist()
    assert changes[:100].std() == pytest.approx(50_00 * 0.005, rel=0.3)


def test_every_stock_is_watched_from_its_first_price() -> None:
    workload = generate(Stocks(subscriptions=200, events=100))
    assert np.bincount(workload.items).tolist() == [200] * 5
    assert (workload.centres == 50_00).all()
    assert workload.updates()["item"].to_pylist()[:7] == [0, 1, 2, 3, 4, 0, 1]


def test_equal_seeds_give_equal_prices_and_different_ones_do_not() -> None:
    spec = Stocks(stocks=2, subscriptions=10, events=50)
    first, again, other = (generate(spec, seed) for seed in (1, 1, 2))
    assert first.updates() == again.updates()
    assert first.subscriptions() == again.subscriptions()
    assert first.updates() != other.updates()
