import pytest

from tamis.lab.experiment import Good, Row
from tamis.lab.verdict import ratio, verdict


@pytest.mark.parametrize(
    ("ours", "paper", "good", "words"),
    [
        (3.0, None, "near", "no figure in the paper"),
        (2.0, 2.0, "near", "equal to the paper"),
        (0.0, 0.0, "near", "equal to the paper"),
        (2.08, 2.0, "near", "within 5 % of the paper"),
        (1.92, 2.0, "order", "within 5 % of the paper"),
        (2.24, 2.0, "near", "higher by 12 %"),
        (1.5, 2.0, "near", "lower by 25 %"),
        (7.0, 2.0, "near", "3.5 times the paper"),
        (1.0, 2.0, "smaller", "better: lower by 50 %"),
        (3.0, 2.0, "smaller", "higher by 50 %"),
        (3.0, 2.0, "larger", "better: higher by 50 %"),
        (6.0, 2.0, "order", "reproduced: same order"),
        (20.0, 2.0, "order", "not reproduced: 10 times the paper"),
        (0.2, 2.0, "order", "not reproduced: lower by 90 %"),
        (2.0, 1.0, "exact", "differs: the paper has 1"),
        (0.1, 0.0, "near", "differs: the paper has 0"),
        (-1.0, 2.0, "near", "differs: the paper has 2"),
    ],
)
def test_verdict_in_words(ours: float, paper: float | None, good: Good, words: str) -> None:
    assert verdict(Row("x", ours, paper, good=good)) == words


def test_tolerance_is_the_rows_own() -> None:
    assert verdict(Row("x", 1.15, 1.0, tolerance=0.2)) == "within 20 % of the paper"


def test_ratio_needs_a_figure_of_the_paper() -> None:
    assert ratio(Row("x", 3.0, 2.0)) == 1.5
    assert ratio(Row("x", 3.0)) is None
    assert ratio(Row("x", 3.0, 0.0)) is None
