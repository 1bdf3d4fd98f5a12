from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from tamis.lab.workloads import Conjunctions, Workload, Yardstick, generate
from tamis.lab.workloads.draws import Ints, zipf
from tamis.lab.workloads.yardstick import W_A, W_B, W_E, W_R

SEEDS = range(40)


@cache
def together(dimensions: int, exponent: float, event_size: int) -> list[float]:
    """Return how likely the attributes of a conjunction of one, two, ... are all in an event, by drawing many."""
    rng = np.random.default_rng(1)
    weights = np.log(zipf(dimensions, exponent))
    asked = np.argsort(-(weights + rng.gumbel(size=(6_000, dimensions))), axis=1)[:, :7]
    told = np.argsort(-(weights + rng.gumbel(size=(2_000, dimensions))), axis=1)[:, :event_size]
    present = np.zeros((2_000, dimensions), dtype=np.bool_)
    np.put_along_axis(present, told, values=True, axis=1)
    both = np.logical_and.accumulate([present[:, column] for column in asked.T])
    return [float(shares.mean()) for shares in both]


def expectation(spec: Yardstick) -> float:
    """Return the matches per event that the definition implies, on average over all seeds.

    A predicate is true of its attribute's value with one probability, whatever the attribute: the chance that two
    values agree, or the mean width of a range. Attributes of a conjunction differ, so probabilities multiply.
    """
    agree = float((zipf(spec.cardinality, spec.value_alpha) ** 2).sum())
    width = (spec.narrowest + spec.widest) / 2 / spec.cardinality
    true = spec.equality * agree + (1 - spec.equality) * width
    sizes = range(spec.fewest_predicates, spec.most_predicates + 1)
    present = together(spec.dimensions, spec.alpha, spec.event_size)
    chances = [present[size - 1] * true**size for size in sizes]
    return spec.subscriptions * float(np.mean(chances))


@pytest.mark.parametrize(
    ("spec", "stated", "subscriptions", "events"),
    [(W_A, 20.7, 4_000, 80), (W_E, 8.9, 8_000, 120), (W_B, 178, 3_000, 50), (W_R, 159, 3_000, 50)],
)
def test_matches_per_event_are_those_stated(
    spec: Yardstick, stated: float, subscriptions: int, events: int, matches: Callable[[Workload], Ints]
) -> None:
    small = replace(spec, subscriptions=subscriptions, events=events)
    scale = spec.subscriptions / subscriptions
    seen = [scale * matches(generate(small, seed)).mean() for seed in SEEDS]
    assert np.mean(seen) == pytest.approx(expectation(spec), rel=0.05)
    # What is stated was seen with one seed, and seeds differ: which values are popular decides much.
    assert abs(stated - np.mean(seen)) < 2 * np.std(seen)


def test_predicates_are_equalities_and_ranges_as_often_as_asked() -> None:
    conditions = generate(replace(W_A, subscriptions=40_000)).conditions
    assert isinstance(conditions, Conjunctions)
    sizes = np.bincount(np.diff(conditions.offsets))
    np.testing.assert_allclose(sizes[3:] / 40_000, 0.2, rtol=0.05)
    widths = conditions.predicates.high - conditions.predicates.low + 1
    assert np.mean(widths == 1) == pytest.approx(0.5, rel=0.05)
    wide = widths[widths > 1]
    assert (wide.min(), wide.max()) == (100, 600)
    assert wide.mean() == pytest.approx(350, rel=0.05)
    assert conditions.predicates.low.min() == 0
    assert conditions.predicates.high.max() == 999


def test_popular_values_differ_between_attributes() -> None:
    conditions = generate(W_E).conditions
    assert isinstance(conditions, Conjunctions)
    values = [conditions.predicates.low[conditions.codes == code] for code in range(3)]
    counts = [np.bincount(value, minlength=1_000) for value in values]
    assert len({int(count.argmax()) for count in counts}) == 3
    for count in counts:
        np.testing.assert_allclose(np.sort(count)[::-1][:3] / count.sum(), zipf(1_000, 1)[:3], rtol=0.05)
