"""The experiments of specs/003 about servers: small runs whose outcome does not depend on the clock."""

import pytest

from support.outcomes import outcome_of
from tamis.lab.experiment import Outcome, Scale
from tamis.lab.experiments import e003_server_all, e003_server_diff, e003_server_same


def compared(outcome: Outcome) -> list[float | None]:
    """Return the paper's numbers of sizes at which one structure is slower than another: all there are."""
    return [row.paper for row in outcome.rows if row.label.startswith("sizes, of 2") and row.good == "exact"]


def nothing_wrong(outcome: Outcome) -> bool:
    [judged] = [row for row in outcome.rows if row.label.startswith("answers, of")]
    return judged.ours == judged.paper == 0


def test_different_radii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e003_server_diff.EVENTS, Scale.QUICK, (200, 60, 30))
    outcome = outcome_of(e003_server_diff.EXPERIMENT)
    assert nothing_wrong(outcome)
    assert compared(outcome) == [2] * 4
    times, visits = outcome.tables
    assert times.columns[3:] == list(e003_server_diff.ENTRANTS)
    for size, affected, ranges, *_ in times.rows:
        assert 1 < float(ranges or 0) < float(affected or 0) < int(str(size).replace(",", ""))
    scanned, looked_at = visits.columns.index("scan"), visits.columns.index("radius-tree")
    for row in visits.rows:
        assert float(row[looked_at] or 0) < float(row[scanned] or 0)
    assert {series.name for series in outcome.figure.series} == set(e003_server_diff.ENTRANTS)


def test_one_radius() -> None:
    outcome = outcome_of(e003_server_same.EXPERIMENT)
    assert nothing_wrong(outcome)
    assert compared(outcome) == [2] * 3
    for size, affected, ranges, *_ in outcome.tables[0].rows:
        # A full turn takes about a hundred events, and affects everybody once.
        assert float(affected or 0) == pytest.approx(int(str(size).replace(",", "")) / 102, rel=0.2)
        assert 0 < float(ranges or 0) < 0.5


def test_any_radii() -> None:
    outcome = outcome_of(e003_server_all.EXPERIMENT)
    assert nothing_wrong(outcome)
    assert [row.paper for row in outcome.rows].count(e003_server_all.FACTOR) == 3
    affected = [float(table.rows[-1][1] or 0) for table in outcome.tables]
    assert affected[0] > affected[1] > 0
    assert affected[2] > 0
