import numpy as np
import pytest

from tamis.lab.workloads.draws import distinct, offsets_of, pick, subsets, tilted, truncated_normal, zipf


def pairs(codes: np.ndarray, count: int) -> np.ndarray:
    """Return how often each unordered pair of codes was drawn, as shares."""
    low, high = np.sort(codes.reshape(-1, 2), axis=1).T
    return np.bincount(low * count + high, minlength=count * count) / len(low)


def drawn_in_turn(weights: np.ndarray) -> np.ndarray:
    """Return the probability of each unordered pair when codes are drawn one after the other."""
    shares = np.zeros((len(weights), len(weights)))
    for first in range(len(weights)):
        for second in range(first + 1, len(weights)):
            both = weights[first] * weights[second]
            shares[first, second] = both / (1 - weights[first]) + both / (1 - weights[second])
    return shares.ravel()


def test_zipf_shares_fall_with_the_rank() -> None:
    shares = zipf(4, 1)
    np.testing.assert_allclose(shares, np.array([12, 6, 4, 3]) / 25)
    np.testing.assert_allclose(zipf(5, 0), 0.2)


@pytest.mark.parametrize(("low", "high", "mean"), [(1, 56, 8), (1, 5, 2.78), (1, 5, 4.5), (3, 3, 3)])
def test_a_tilted_law_has_the_mean_asked_for(low: int, high: int, mean: float) -> None:
    shares = tilted(low, high, mean)
    assert len(shares) == high - low + 1
    assert shares.sum() == pytest.approx(1)
    assert shares @ np.arange(low, high + 1) == pytest.approx(mean)


def test_a_mean_outside_the_range_is_refused() -> None:
    with pytest.raises(ValueError, match="no law on 1 to 5 has the mean 6"):
        tilted(1, 5, 6)


def test_picked_positions_have_their_probabilities() -> None:
    shares = np.bincount(pick(np.random.default_rng(1), zipf(10, 1), 200_000)) / 200_000
    np.testing.assert_allclose(shares, zipf(10, 1), rtol=0.05)


def test_a_truncated_normal_stays_inside_and_keeps_its_shape() -> None:
    values = truncated_normal(np.random.default_rng(1), 0, 1, -1, 1, (100_000, 2))
    assert values.shape == (100_000, 2)
    assert np.abs(values).max() <= 1
    # The standard deviation of the standard normal law cut at one deviation.
    assert values.std() == pytest.approx(0.5396, rel=0.01)


def test_distinct_codes_follow_the_law_of_draws_in_turn() -> None:
    weights = zipf(4, 1)
    codes = distinct(np.random.default_rng(1), weights, np.full(200_000, 2))
    expected = drawn_in_turn(weights)
    np.testing.assert_allclose(pairs(codes, 4)[expected > 0], expected[expected > 0], rtol=0.05)


def test_distinct_codes_of_a_law_too_skewed_for_redrawing_follow_it_too() -> None:
    weights = np.array([0.9999, 5e-5, 3e-5, 2e-5])
    codes = distinct(np.random.default_rng(1), weights, np.full(100_000, 2))
    np.testing.assert_allclose(pairs(codes, 4)[[1, 2, 3]], [0.5, 0.3, 0.2], rtol=0.05)


@pytest.mark.parametrize("exponent", [0, 1, 5])
def test_distinct_codes_of_a_row_are_different(exponent: float) -> None:
    sizes = np.random.default_rng(1).integers(0, 31, size=500)
    codes = distinct(np.random.default_rng(2), zipf(40, exponent), sizes)
    keys = np.repeat(np.arange(len(sizes)), sizes) * 40 + codes
    assert len(np.unique(keys)) == sizes.sum()
    assert codes.min() >= 0
    assert codes.max() < 40


def test_more_distinct_codes_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="cannot draw 3 different codes of 2"):
        distinct(np.random.default_rng(1), np.array([0.5, 0.5, 0.0]), np.array([3]))


def test_subsets_follow_the_law_of_draws_in_turn() -> None:
    weights = zipf(4, 1)
    log_weights = np.tile(np.log(weights), (200_000, 1))
    columns = subsets(np.random.default_rng(1), log_weights, 2)
    expected = drawn_in_turn(weights)
    np.testing.assert_allclose(pairs(columns, 4)[expected > 0], expected[expected > 0], rtol=0.05)


def test_offsets_are_the_starts_and_the_end() -> None:
    assert offsets_of(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
