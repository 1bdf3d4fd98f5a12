import pytest

from tamis.lab.experiment import Context, Scale
from tamis.lab.experiments import e002_workloads
from tamis.lab.experiments.e002_workloads import EXPERIMENT


def test_every_figure_of_the_paper_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e002_workloads, "PROBABILITIES", (0.001, 0.5))
    monkeypatch.setitem(e002_workloads.MATCHED, Scale.QUICK, 300)
    monkeypatch.setitem(e002_workloads.COUNTED, Scale.QUICK, 20_000)
    steps: list[tuple[int, int]] = []
    outcome = EXPERIMENT.run(Context(Scale.QUICK, 7, lambda done, total: steps.append((done, total))))
    assert steps == [(done, 5) for done in range(6)]
    assert len(outcome.rows) == 3 + 5 + 3
    for row in outcome.rows:
        assert row.ours == pytest.approx(row.paper, rel=0.1), row.label
