from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

from tamis.lab.workloads import (
    BE_GEN_A_TREE,
    BE_GEN_DENSE,
    BE_GEN_SPARSE,
    BeGen,
    Conjunctions,
    SparseEvents,
    Workload,
    generate,
)
from tamis.lab.workloads.be_gen import uniform_events
from tamis.lab.workloads.draws import Ints, zipf


@pytest.mark.parametrize(
    ("spec", "probability"),
    [
        (BE_GEN_DENSE, 0.001),
        (BE_GEN_SPARSE, 0.001),
        (BE_GEN_A_TREE, 0.001),
        (replace(BE_GEN_DENSE, subscription_size=3), 0.001),
        (replace(BE_GEN_DENSE, event_size=90), 0.001),
        (replace(BE_GEN_DENSE, alpha=1), 0.001),
        (replace(BE_GEN_DENSE, equality=0), 0.005),
        (replace(BE_GEN_SPARSE, cardinality=3), 0.05),
        (BE_GEN_DENSE, 0.5),
    ],
)
def test_the_matching_probability_is_the_one_asked_for(
    spec: BeGen, probability: float, matches: Callable[[Workload], Ints]
) -> None:
    spec = replace(
        spec, subscriptions=6_000, matching_probability=probability, events=min(1_000, round(2 / probability))
    )
    assert matches(generate(spec)).mean() / spec.subscriptions == pytest.approx(probability, rel=0.05)


@pytest.mark.parametrize("equality", [0, 0.2, 0.5])
def test_the_share_of_equalities_is_the_one_asked_for_and_other_operators_are_even(equality: float) -> None:
    conditions = generate(BeGen(subscriptions=20_000, events=10, equality=equality)).conditions
    assert isinstance(conditions, Conjunctions)
    shares = np.bincount(conditions.predicates.operators, minlength=9) / (20_000 * 5)
    np.testing.assert_allclose(shares, [equality] + [(1 - equality) / 8] * 8, rtol=0.05)


def test_sizes_are_the_ones_asked_for() -> None:
    workload = generate(BeGen(subscriptions=500, events=50, subscription_size=10, event_size=42, cardinality=10))
    conditions, events = workload.conditions, workload.events
    assert isinstance(conditions, Conjunctions)
    assert isinstance(events, SparseEvents)
    assert set(np.diff(conditions.offsets)) == {10}
    assert set(np.diff(events.offsets)) == {42}
    assert events.values.max() == 9
    names = conditions.columns().group_by("subscription").aggregate([("attribute", "count_distinct")])
    assert set(names["attribute_count_distinct"].to_pylist()) == {10}


def test_attributes_follow_the_law_of_zipf() -> None:
    events = uniform_events(np.random.default_rng(1), 50_000, size=1, dimensions=1_000, cardinality=10, alpha=1)
    shares = np.bincount(events.codes, minlength=1_000) / 50_000
    np.testing.assert_allclose(shares[:5], zipf(1_000, 1)[:5], rtol=0.05)


def test_a_probability_below_that_of_accidents_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match=r"0\.001 cannot be reached.*match by accident"):
        generate(BeGen(subscriptions=1_000, events=10, subscription_size=2, event_size=90))


def test_a_probability_far_from_one_over_a_whole_number_is_refused() -> None:
    with pytest.raises(ValueError, match=r"near one over a whole number, not 0\.4"):
        generate(BeGen(subscriptions=1_000, events=10, matching_probability=0.4))
