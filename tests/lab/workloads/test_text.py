import numpy as np
import pyarrow as pa
import pytest

from tamis.lab.workloads.text import composed, joined, line, literals, merged
from tamis.language import And, Comparison, Not, Or, parse


def test_literals_are_read_back_as_the_values_they_were() -> None:
    numbers = np.array([0.1, 1e-9, -2.5, 1e17, 1 / 3])
    for text, value in zip(literals(numbers).to_pylist(), numbers.tolist(), strict=True):
        expression = parse(f"x = {text}")
        assert isinstance(expression, Comparison)
        assert expression.value == value
    assert literals(pa.array(["it's", ""])).to_pylist() == ["'it''s'", "''"]
    assert literals(np.array([-3, 4])).to_pylist() == ["-3", "4"]


def test_lines_join_columns_and_words() -> None:
    assert line(pa.array(["a", "b"]), "=", pa.array(["1", "2"])).to_pylist() == ["a = 1", "b = 2"]


def test_rows_are_joined_between_their_offsets() -> None:
    assert joined(pa.array(["a", "b", "c"]), np.array([0, 2, 3]), "; ").to_pylist() == ["a; b", "c"]


def test_parts_come_back_to_their_rows() -> None:
    odd = np.array([False, True, False, True])
    assert merged([odd, ~odd], [pa.array(["b", "d"]), pa.array(["a", "c"])]).to_pylist() == ["a", "b", "c", "d"]


def test_composed_conditions_hold_their_predicates_in_order() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 7, size=2_000)
    predicates = pa.array([f"a{number} = 1" for number in range(sizes.sum())])
    seen, kinds = 0, {And: 0, Or: 0, Not: 0, Comparison: 0}
    for text, size in zip(composed(rng, predicates, sizes).to_pylist(), sizes.tolist(), strict=True):
        expression = parse(text)
        names = [predicate.attribute for predicate in expression.predicates()]
        assert names == [f"a{number}" for number in range(seen, seen + size)]
        seen += size
        groups = expression.operands if isinstance(expression, And) else (expression,)
        for group in groups:
            kinds[type(group)] += 1
    # A tenth of the groups is negated; of the others, half hold the one predicate before the next group.
    assert kinds[Not] / sum(kinds.values()) == pytest.approx(0.1, rel=0.1)
    assert kinds[Or] > 1_000
    assert kinds[Comparison] > 1_000
