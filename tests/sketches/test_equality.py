"""Different sets that are judged equal (specs/000 §8): both estimates against trials."""

import pytest

from tamis.sketches import Bloom, Hashes, false_equality, pessimistic_false_equality


def test_the_figures_of_the_specification() -> None:
    assert pessimistic_false_equality(4_000, 2, 1_000, 3, 0) == pytest.approx(0.026, abs=0.0005)
    assert pessimistic_false_equality(4_000, 2, 1_000, 3, 3) == pytest.approx(0.0007, abs=0.00005)
    assert false_equality(4_000, 2, 1_000, 3, 0) == pytest.approx(0.0037, abs=0.00005)


def test_equal_sets_are_equal() -> None:
    assert false_equality(400, 2, 100, 0, 0) == pessimistic_false_equality(400, 2, 100, 0, 0) == 1


@pytest.mark.parametrize(("only_a", "only_b"), [(1, 0), (0, 1), (2, 0), (1, 1)])
def test_trials_agree_with_the_better_estimate(only_a: int, only_b: int) -> None:
    bits, hashes, common, trials = 40, 2, 10, 4_000
    fooled = 0
    for trial in range(trials):
        family = Hashes(bits, hashes, salt=trial)
        shared = Bloom(family, (f"both {number}" for number in range(common)))
        a = shared | Bloom(family, (f"a {number}" for number in range(only_a)))
        b = shared | Bloom(family, (f"b {number}" for number in range(only_b)))
        fooled += a == b
    expected = false_equality(bits, hashes, common, only_a, only_b)
    assert fooled / trials == pytest.approx(expected, rel=0.25)
    assert pessimistic_false_equality(bits, hashes, common, only_a, only_b) > fooled / trials


def test_what_one_salt_takes_for_equal_the_next_tells_apart() -> None:
    """A collision under fixed functions would be for ever, and a repair that asks again would never end."""
    fooled = [
        salt
        for salt in range(500)
        if Bloom(Hashes(64, 2, salt), map(str, range(20))) == Bloom(Hashes(64, 2, salt), map(str, range(21)))
    ]
    assert 0 < len(fooled) < 250
    assert all(set(range(salt + 1, salt + 20)) - set(fooled) for salt in fooled)
