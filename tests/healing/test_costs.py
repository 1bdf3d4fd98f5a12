"""The adaptive policy against the best one, which knows the future (specs/000 §9, §10.11)."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.healing.costs import adaptive_cost, best_cost, bound

hops = st.lists(st.integers(0, 12), max_size=60)
mults = st.sampled_from((0.5, 1.0, sqrt(2), 2.0, 3.0))


@given(hops, st.integers(1, 60), st.booleans(), mults)
def test_it_costs_at_most_so_many_times_the_best_and_one_event(
    in_vain: list[int], cost: int, returns: bool, mult: float
) -> None:
    spent = adaptive_cost(in_vain, cost, returns, mult)
    assert spent <= bound(mult, returns) * best_cost(in_vain, cost, returns) + max(in_vain, default=0) + 1e-9


@given(hops, st.integers(1, 60), st.booleans())
def test_while_no_more_than_the_threshold_is_in_vain_it_is_the_best(
    in_vain: list[int], cost: int, returns: bool
) -> None:
    if sum(in_vain) <= cost:
        assert adaptive_cost(in_vain, cost, returns) == best_cost(in_vain, cost, returns) == sum(in_vain)


@pytest.mark.parametrize(
    ("mult", "back", "lost"), [(1.0, 3.0, 2.0), (2.0, 2.0, 3.0), (sqrt(2), 1 + sqrt(2), 1 + sqrt(2))]
)
def test_the_bounds_are_reached(mult: float, back: float, lost: float) -> None:
    assert bound(mult, returns=True) == pytest.approx(back)
    assert bound(mult, returns=False) == pytest.approx(lost)
    cost = 1000
    in_vain = [1] * (int(mult * cost) + 1)
    ratio = adaptive_cost(in_vain, cost, True, mult) / best_cost(in_vain, cost, True)
    assert ratio == pytest.approx(back, rel=0.01)
    ratio = adaptive_cost(in_vain, cost, False, mult) / best_cost(in_vain, cost, False)
    assert ratio == pytest.approx(lost, rel=0.01)


def test_twice_the_best_as_the_theorem_says_is_not_reached() -> None:
    in_vain = [1] * 1100  # more than the threshold, less than to withdraw and subscribe again
    assert adaptive_cost(in_vain, 1000, True) > 2.5 * best_cost(in_vain, 1000, True)
