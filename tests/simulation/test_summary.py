from collections import Counter

import numpy as np

from tamis.simulation.summary import Latency, Spread


def test_latency_percentiles() -> None:
    found = Latency.of(np.arange(101.0))
    assert (found.mean, found.p50, found.p90, found.p99, found.max) == (50, 50, 90, 99, 100)


def test_a_spread_knows_mean_most_and_how_often() -> None:
    assert Spread.of(Counter({3: 1, 1: 3})) == Spread(1.5, 3, {1: 3, 3: 1})
    assert list(Spread.of(Counter({3: 1, 1: 3})).distribution) == [1, 3]
