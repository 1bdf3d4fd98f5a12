"""The experiments of specs/003 about traffic and stress, on a small scale."""

import numpy as np

from support.outcomes import ours, outcome_of
from tamis.lab.experiment import Table
from tamis.lab.experiments import (
    e003_arrivals,
    e003_stress,
    e003_traffic_all,
    e003_traffic_diff,
    e003_traffic_same,
)


def column(table: Table, name: str) -> dict[str, float]:
    at = table.columns.index(name)
    return {str(row[0]): float(row[at] or 0) for row in table.rows}


def test_stress() -> None:
    outcome = outcome_of(e003_stress.EXPERIMENT)
    found = ours(outcome)
    unicast = found["different radii: unicast, highest stress"]
    assert found["different radii: CN(r), highest stress"] < unicast / 3
    assert abs(found["different radii: CN(lr), highest stress"] - (2 * unicast + 1)) <= 2
    unicast = found["one radius: unicast, highest stress"]
    assert 1 <= found["one radius: CN(lid), highest stress"] <= 2
    assert abs(found["one radius: CN(c), highest stress"] - (unicast + 1)) <= 2
    shares = [value for label, value in found.items() if "share of events that affect k" in label]
    assert len(shares) == 3
    assert all(share > 0.9 for share in shares)
    by_seed, sent = outcome.tables
    assert len({row[1] for row in by_seed.rows} | {row[2] for row in by_seed.rows}) > len(by_seed.rows)
    most, originated = column(sent, "sent, most"), column(sent, "originated, most")
    assert most["different radii, unicast"] == originated["different radii, unicast"]
    assert most["different radii, CN(lr)"] > originated["different radii, CN(lr)"]


def test_traffic_with_different_radii() -> None:
    outcome = outcome_of(e003_traffic_diff.EXPERIMENT)
    found = ours(outcome)
    assert found["600 subscriptions: bytes, CN(lr) / unicast"] > 2
    assert found["600 subscriptions: bytes, unicast / CN(r)"] > found["300 subscriptions: bytes, unicast / CN(r)"] > 0.5
    counted, others = outcome.tables
    # Larger nodes are fewer, and spare messages; unicast knows none.
    sizes = [column(others, "bytes")[f"{entries:,}, CN(r)"] for entries in (16, 64, 256, 1_024)]
    assert sizes == sorted(sizes, reverse=True)
    assert len({column(others, "bytes")[f"{entries:,}, unicast"] for entries in (16, 64, 256, 1_024)}) == 1
    hops, over_links = column(counted, "overlay hops"), column(counted, "IP hops")
    assert all(over_links[name] > each for name, each in hops.items())


def test_traffic_with_one_radius() -> None:
    outcome = outcome_of(e003_traffic_same.EXPERIMENT)
    found = ours(outcome)
    assert found["sizes, of 2, at which bytes are in the order CN(lr) > CN(c) > unicast > CN(lid)"] == 2
    assert all(found[f"{size} subscriptions: bytes for an event, CN(lid)"] < 100 for size in (200, 400))


def test_traffic_with_all_radii() -> None:
    outcome = outcome_of(e003_traffic_all.EXPERIMENT)
    found = ours(outcome)
    for kind in e003_traffic_all.KINDS:
        held = [value for label, value in found.items() if label.startswith(f"{kind}: sizes")]
        assert held == [1 if kind == e003_traffic_all.STOCK else 2]
    label = "{} ticks to the dollar: 400 subscriptions: bytes, unicast / CN(r,lid)"
    assert found[label.format(100)] > found[label.format("1,000")] > 1


def test_arrivals() -> None:
    outcome = outcome_of(e003_arrivals.EXPERIMENT)
    found = ours(outcome)
    steps = "steps, of 4, to a higher rate at which bytes for an operation {}"
    assert found[steps.format("rise, CN(lid)")] == 4
    assert found[steps.format("fall, CN(c)")] == found[steps.format("fall, CN(lr)")] == 4
    _, split = outcome.tables
    coming = column(split, "a new subscription")
    # A message each way, and nothing else.
    assert {coming[f"{rate:g}, unicast"] for rate in (0.5, 1, 1.5, 2)} == {72.0}
    assert coming["0, unicast"] == 0
    assert all(coming[f"{rate:g}, CN(lid)"] > 72 for rate in (0.5, 1, 1.5, 2))


def test_operations_are_told_apart() -> None:
    assert e003_arrivals._is_new(0.0, 3, 3).tolist() == [False] * 3
    assert e003_arrivals._is_new(2.0, 2, 6).tolist() == [True, True, False] * 2
    assert np.array_equal(e003_arrivals._is_new(0.5, 4, 6), [True, False, False, True, False, False])
