import pytest

from tamis.lab.experiment import Context, Scale
from tamis.lab.experiments import e000_match_cost
from tamis.lab.experiments.e000_match_cost import EXPERIMENT, TABLE


def test_a_search_for_one_match_finds_at_most_one_with_less_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_match_cost.SIZES, Scale.QUICK, (300, 50))
    steps: list[tuple[int, int]] = []
    outcome = EXPERIMENT.run(Context(Scale.QUICK, 7, lambda done, total: steps.append((done, total))))
    assert steps == [(done, 3) for done in range(4)]
    assert all(row.ours > 0 for row in outcome.rows)
    first, whole = (table.rows for table in outcome.tables)
    assert [row[:2] for row in first] == [row[:2] for row in whole]
    assert len(first) == 2 * len(TABLE)
    for (_, _, _, _, fewer, one), (density, _, _, _, tests, found) in zip(first, whole, strict=True):
        assert isinstance(one, float)
        assert isinstance(found, float)
        assert isinstance(fewer, float)
        assert isinstance(tests, float)
        assert one <= 1 < found
        assert fewer < tests
        assert found / 300 == pytest.approx(float(str(density).rstrip("%")) / 100, rel=0.5)
