"""Quick runs of experiments in tests."""

from tamis.lab.experiment import Context, Experiment, Outcome, Scale


def outcome_of(experiment: Experiment) -> Outcome:
    """Run an experiment and check what holds for every outcome."""
    steps: list[tuple[int, int]] = []
    outcome = experiment.run(Context(Scale.QUICK, 7, lambda done, total: steps.append((done, total))))
    assert steps == [(done, len(steps) - 1) for done in range(len(steps))]
    labels = [row.label for row in outcome.rows]
    assert len(set(labels)) == len(labels)
    assert all(len(row) == len(table.columns) for table in outcome.tables for row in table.rows)
    assert all(len(series.x) == len(series.y) for series in outcome.figure.series)
    return outcome


def ours(outcome: Outcome) -> dict[str, float]:
    """Return our numbers by label."""
    return {row.label: row.ours for row in outcome.rows}
