import pytest

from tamis.lab.experiment import Context, Scale
from tamis.lab.experiments import e000_reuse_covering
from tamis.lab.experiments.e000_reuse_covering import EXPERIMENT, STRATEGIES


def test_covering_leaves_less_to_reuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_reuse_covering.SIZES, Scale.QUICK, (7, 140, 10, (0.05, 0.2)))
    outcome = EXPERIMENT.run(Context(Scale.QUICK, 7, lambda _done, _total: None))
    assert all(len(table.rows) == len(STRATEGIES) for table in outcome.tables[:4])
    compared = {(row[0], row[1]): float(str(row[2])) for row in outcome.tables[4].rows}
    for density in ("5 %", "20 %"):
        assert compared[f"Partial-20, {density}", "no"] < compared[f"Partial-20, {density}", "yes"]
        assert compared[f"Partial-20, {density}", "yes"] < compared[f"Never, {density}", "yes"]
    # Here a search is so small that keys cost more at the thesis' prices, but there are prices for all.
    assert len(outcome.rows) == 8
    assert all(float(str(cell)) > 0 for table in outcome.tables[:4] for row in table.rows for cell in row[1:])
