"""The experiments of Bloom-filter routing: small runs whose outcome does not depend on the clock."""

import pytest

from support.outcomes import ours, outcome_of
from tamis.lab import content
from tamis.lab.experiment import Scale
from tamis.lab.experiments import (
    e004_e7_insertion,
    e004_e8_matching,
    e004_e9_false_positives,
    e004_e10_event_bits,
    e004_e11_more_bits,
    e004_e12_more_filters,
)


@pytest.fixture(autouse=True)
def one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "PASSES", 1)


def column(rows: list[list[str | float | None]], at: int) -> list[float]:
    return [float(row[at] or 0) for row in rows]


def test_insertion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e004_e7_insertion.SIZES, Scale.QUICK, (50, 150))
    outcome = outcome_of(e004_e7_insertion.EXPERIMENT)
    times, work = (table.rows for table in outcome.tables)
    for at in range(1, 5):
        assert sorted(column(times, at)) == column(times, at)
    few, many = work
    # Nothing covers anything: every pair is compared, by the poset in both directions.
    assert few[5] == 50
    assert few[1:3] == [50 * 49, 50 * 49 // 2]
    assert many[1:3] == [150 * 149, 150 * 149 // 2]
    assert float(many[3] or 0) < 150


def test_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e004_e8_matching.SIZES, Scale.QUICK, (50, 100))
    monkeypatch.setitem(e004_e8_matching.EVENTS, Scale.QUICK, 60)
    monkeypatch.setattr(e004_e8_matching, "ALL_NAMES", (8, 20_000))
    monkeypatch.setitem(e004_e8_matching.FILTERS, Scale.QUICK, 100)
    outcome = outcome_of(e004_e8_matching.EXPERIMENT)
    found = ours(outcome)
    assert found["pairs of event and filter that are met"] > 0
    assert found["of these, not found by any one of the structures"] == 0
    few, many = outcome.tables[3].rows
    assert column([few], 1)[0] < 100 == many[1]
    assert column([few], 3)[0] > column([many], 3)[0]


def test_false_positives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e004_e9_false_positives.SIZES, Scale.QUICK, (300, 900))
    monkeypatch.setitem(e004_e9_false_positives.EVENTS, Scale.QUICK, 300)
    monkeypatch.setitem(e004_e9_false_positives.SWEEP_EVENTS, Scale.QUICK, 50)
    monkeypatch.setitem(e004_e9_false_positives.X_MAX, Scale.QUICK, (5.0, 50.0))
    outcome = outcome_of(e004_e9_false_positives.EXPERIMENT)
    found = ours(outcome)
    assert found["pairs of event and subscription that should have been delivered"] > 1_000
    assert found["of all these, missed (false negatives)"] == 0
    false = {str(row[0]): float(row[1] or 0) for row in outcome.tables[0].rows}
    assert false["m = 2^12, k = 2, 900"] > false["m = 2^14, k = 2, 900"]
    assert false["m = 2^12, k = 2, 900"] > false["m = 2^12, k = 2, 300"]
    # A law that is cut off later has fewer popular names, which more subscriptions share.
    bits = {str(row[0]): float(row[6] or 0) for row in outcome.tables[1].rows}
    assert bits["normal, 50"] > bits["normal, 5"]
    assert not any(row.label.startswith("calibration") for row in outcome.rows)


def test_what_is_fitted_is_called_a_calibration() -> None:
    def count(false: float) -> e004_e9_false_positives.Count:
        return e004_e9_false_positives.Count(false, 0, 10, 1, 10, 0, 5)

    lines = {(e004_e9_false_positives.PAPER, 5_000): count(2_000)}
    normal = {10.0: [count(2_000), count(2_100)], 15.0: [count(4_700)], 18.0: [count(5_200)]}
    rows = e004_e9_false_positives._rows(lines, {"normal": normal, "pareto": {}})
    [calibrated] = [row for row in rows if row.label.startswith("calibration, not agreement")]
    assert (calibrated.ours, calibrated.paper) == (15, None)
    assert [row.ours for row in rows if row.paper == 4_695] == [2_000]


def test_event_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e004_e10_event_bits.SIZES, Scale.QUICK, (100, 200))
    monkeypatch.setitem(e004_e10_event_bits.SWEEP_SIZE, Scale.QUICK, 200)
    outcome = outcome_of(e004_e10_event_bits.EXPERIMENT)
    by_size, by_cut = (table.rows for table in outcome.tables)
    for at in (1, 3):
        assert sorted(column(by_size, at)) == column(by_size, at)
        assert sorted(column(by_cut, at)) == column(by_cut, at)
    assert column(by_size, 3) == pytest.approx([2 * each for each in column(by_size, 1)], rel=0.1)
    assert ours(outcome)["k = 2: bytes of an event with 200 bits"] == 400


def test_more_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e004_e11_more_bits.FILTERS, Scale.QUICK, 300)
    monkeypatch.setitem(e004_e11_more_bits.EVENTS, Scale.QUICK, 20)
    outcome = outcome_of(e004_e11_more_bits.EXPERIMENT)
    found = ours(outcome)
    assert found["events for which the tables do not agree"] == 0
    assert found["counting: largest power of the bits by which postings grow"] == pytest.approx(1, abs=0.2)
    rows = outcome.tables[0].rows
    for at in (1, 5, 8):
        assert sorted(column(rows, at)) == column(rows, at)


def test_more_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e004_e12_more_filters.SIZES, Scale.QUICK, (100, 800))
    found = ours(outcome_of(e004_e12_more_filters.EXPERIMENT))
    assert found["events for which the tables do not agree"] == 0
    for family in ("m = 2^14", "m = 2^22"):
        where = f"{family}, 800 / 100 filters"
        assert found[f"{where}: bits of an event"] == pytest.approx(1, abs=0.4)
        assert found[f"{where}: sbstree, edges that the thesis goes through"] > 5
        assert found[f"{where}: sbstree, edges that ours looks up"] < 2
    postings = [found[f"{family}, 800 / 100 filters: counting, postings"] for family in ("m = 2^14", "m = 2^22")]
    assert postings[0] > postings[1]
