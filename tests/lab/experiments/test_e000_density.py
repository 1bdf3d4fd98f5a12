import pytest

from tamis.lab.experiment import Context, Scale
from tamis.lab.experiments import e000_density
from tamis.lab.experiments.e000_density import DENSITIES, EXPERIMENT, LENGTHS


def test_lengths_hold_and_densities_come_near(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_density.SIZES, Scale.QUICK, (1_000, 1_000))
    steps: list[tuple[int, int]] = []
    outcome = EXPERIMENT.run(Context(Scale.QUICK, 7, lambda done, total: steps.append((done, total))))
    cases = len(LENGTHS) * len(DENSITIES)
    assert steps == [(done, cases) for done in range(cases + 1)]
    densities, lengths = outcome.rows[:cases], outcome.rows[cases:]
    for row in lengths:
        assert row.ours == pytest.approx(row.paper, rel=0.01), row.label
    for row in densities:
        assert row.ours == pytest.approx(row.paper, rel=0.3), row.label
    assert [series.name for series in outcome.figure.series] == list(LENGTHS)


def test_the_stated_lengths_are_the_fifth_roots_of_the_densities() -> None:
    for percent, length in zip(DENSITIES, LENGTHS["uniform"], strict=True):
        assert length == pytest.approx((percent / 100) ** 0.2, abs=1e-4)
