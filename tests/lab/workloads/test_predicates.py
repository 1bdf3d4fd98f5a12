import numpy as np
import pytest

from tamis.lab.workloads.conjunctions import Operator
from tamis.lab.workloads.predicates import LIST_SIZE, operators, true_of


@pytest.mark.parametrize("cardinality", [2, 3, 10, 100])
def test_every_predicate_is_true_of_its_value(cardinality: int) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(cardinality, size=20_000)
    predicates = true_of(rng, operators(rng, rng.random(20_000) < 0.2), values, cardinality)
    assert predicates.accept(np.arange(20_000), values).all()


def test_operators_keep_their_shares() -> None:
    rng = np.random.default_rng(1)
    equal = rng.random(100_000) < 0.2
    predicates = true_of(rng, operators(rng, equal), rng.integers(101, size=100_000), 101)
    shares = np.bincount(predicates.operators) / 100_000
    np.testing.assert_allclose(shares, [0.2] + [0.1] * 8, rtol=0.05)


def test_a_bound_leaves_at_most_half_of_the_values() -> None:
    rng = np.random.default_rng(1)
    chosen = np.full(1_000, Operator.LE, dtype=np.int8)
    predicates = true_of(rng, chosen, rng.integers(100, size=1_000), 100)
    for value in (0, 99):
        accepted = predicates.accept(np.arange(1_000), np.full(1_000, value))
        assert accepted.mean() == pytest.approx(0.5, abs=0.05)
    assert predicates.accept(np.arange(1_000), np.full(1_000, 49)).sum() < 20


@pytest.mark.parametrize("operator", [Operator.IN, Operator.NOT_IN])
def test_lists_hold_different_values_of_the_domain(operator: Operator) -> None:
    rng = np.random.default_rng(1)
    predicates = true_of(rng, np.full(2_000, operator, dtype=np.int8), rng.integers(7, size=2_000), 7)
    lists = predicates.lists.reshape(-1, LIST_SIZE)
    assert (np.diff(lists, axis=1) > 0).all()
    assert lists.min() == 0
    assert lists.max() == 6


def test_a_domain_of_one_value_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        true_of(np.random.default_rng(1), np.zeros(1, dtype=np.int8), np.zeros(1, dtype=np.int64), 1)
