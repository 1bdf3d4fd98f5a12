"""The experiments of MICS: small runs whose outcome does not depend on the clock."""

import pytest

from support.outcomes import ours, outcome_of
from tamis.lab import content, race
from tamis.lab.experiment import Scale
from tamis.lab.experiments import (
    e001_candidates,
    e001_conversion,
    e001_covering_speed,
    e001_insert,
    e001_matching_speed,
    e001_precision,
    e001_projection,
    e001_storage,
    e001_traffic,
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(content.SIZES, Scale.QUICK, (500, 1_500))
    monkeypatch.setitem(race.ASKED, Scale.QUICK, 20)


def test_conversion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e001_conversion.BOXES, Scale.QUICK, 60)
    outcome = outcome_of(e001_conversion.EXPERIMENT)
    assert [row.paper for row in outcome.rows[:4]] == [0.1, 0.1, 0.3, 1.0]
    for _, runs, estimate, *_ in outcome.tables[0].rows:
        assert runs == pytest.approx(estimate, rel=0.35)


def test_traffic() -> None:
    outcome = outcome_of(e001_traffic.EXPERIMENT)
    for table in outcome.tables:
        for _, count, covering, subsumption, percent in table.rows:
            assert isinstance(subsumption, int)
            assert subsumption <= covering <= count
            assert percent == pytest.approx(100 * subsumption / count)
    found = ours(outcome)
    assert found["Zipf, 1,500 subscriptions: numbers of dimensions, of 3, in which subsumption forwards less"] == 3
    assert found["Zipf, 1,500 subscriptions: times, of 2, that one more dimension makes the gap smaller"] == 2


def test_insert() -> None:
    outcome = outcome_of(e001_insert.EXPERIMENT)
    assert [row.paper for row in outcome.rows[:6]] == [0.1] * 6
    assert {series.name for series in outcome.figure.series} == {race.LOOP, race.SINGLE, race.BULK, e001_insert.ALONE}


def test_covering_speed() -> None:
    found = ours(outcome_of(e001_covering_speed.EXPERIMENT))
    assert found["boxes that one covers, and the table or the index does not find"] == 0
    assert found["boxes that only several cover together, found by the table"] > 0


def test_matching_speed() -> None:
    assert ours(outcome_of(e001_matching_speed.EXPERIMENT))["publications that table and loop do not agree on"] == 0


def test_storage() -> None:
    outcome = outcome_of(e001_storage.EXPERIMENT)
    found = ours(outcome)
    assert found["Zipf, 2 dimensions, size 2, 1,500 boxes: runs / (boxes x dimensions)"] < 1
    assert found["uniform, 4 dimensions, size 2, 1,500 boxes: runs / (boxes x dimensions)"] > 1
    assert found["numbers of dimensions, of 3, in which Zipf's law leaves fewer runs"] == 3
    assert len(outcome.notes) == 2


def test_what_is_said_when_runs_become_fewer() -> None:
    notes = e001_storage._notes({"zipf": {(2, 2): {5: 10, 9: 12}}, "uniform": {(3, 8): {5: 10, 9: 8}}})
    assert notes[-1].endswith("uniform, 3 dimensions, size 8.")


def test_projection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e001_projection.PUBLICATIONS, Scale.QUICK, 500)
    outcome = outcome_of(e001_projection.EXPERIMENT)
    found = ours(outcome)
    assert found["publications that match truly and are not found"] == 0
    assert found["as stated, Zipf, 1,500 boxes: false"] > 90
    assert found["fitted, Zipf, 1,500 boxes: false"] < 50
    assert "workload fitted" in outcome.tables[1].title


def test_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e001_candidates.ASKED, Scale.QUICK, 60)
    outcome = outcome_of(e001_candidates.EXPERIMENT)
    found = ours(outcome)
    assert found["boxes that overlap or cover and are no candidates"] == 0
    assert found["overlap, Zipf, 1,500 boxes: candidates"] > found["stab, Zipf, 1,500 boxes: candidates"] > 0


def test_expected_candidates_are_those_of_the_specification() -> None:
    for reading, law, figure in (
        ("overlap", "zipf", 97),
        ("overlap, sizes 1 to 7", "zipf", 79),
        ("stab", "zipf", 24),
        ("overlap", "uniform", 0.41),
        ("stab", "uniform", 0.078),
    ):
        likely = e001_candidates.expected(law, *e001_candidates.READINGS[reading])  # type: ignore[arg-type]
        assert 20_000 * likely == pytest.approx(figure, rel=0.01)


def test_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e001_precision.BOXES, Scale.QUICK, 400)
    monkeypatch.setitem(e001_precision.PUBLICATIONS, Scale.QUICK, 500)
    outcome = outcome_of(e001_precision.EXPERIMENT)
    assert ours(outcome)["publications that match truly and are not found"] == 0
    for table in outcome.tables:
        false = {str(row[0]): row[2] for row in table.rows}
        assert false["bits, equal cells 8"] == false["theta 1"] == 0
        for name, values in (("bits, equal cells", (3, 5, 8)), ("runs of a box", (1, 4, 16)), ("theta", (1024, 16, 1))):
            shares = [float(false[f"{name} {value}"] or 0) for value in values]
            assert shares == sorted(shares, reverse=True)
    assert len(outcome.rows) == 2 * sum(map(len, e001_precision.SHOWN.values())) + 1
