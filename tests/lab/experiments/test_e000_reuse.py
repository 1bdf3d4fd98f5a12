import pytest

from tamis.lab.experiment import Context, Outcome, Scale
from tamis.lab.experiments import e000_reuse
from tamis.lab.experiments.e000_reuse import EXPERIMENT, STRATEGIES


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(e000_reuse.SIZES, Scale.QUICK, (7, 420, 10, {"norm-1": (0.01, 0.2)}))
        return EXPERIMENT.run(Context(Scale.QUICK, 7, lambda _done, _total: None))


def test_every_strategy_is_tried_with_both_indexes_at_every_density(outcome: Outcome) -> None:
    titles = [table.title for table in outcome.tables]
    assert len(titles) == 5
    assert all(len(table.rows) == len(STRATEGIES) for table in outcome.tables[:3])
    assert all(len(table.rows) == 4 * 2 for table in outcome.tables[3:])
    assert all(cell != "" for table in outcome.tables for row in table.rows for cell in row)


def test_reuse_saves_work_and_all_keys_are_many_where_many_match(outcome: Outcome) -> None:
    for table in outcome.tables[3:]:
        counts = {str(row[0]): [float(str(cell)) for cell in row[5:]] for row in table.rows}
        for density in ("1 %", "20 %"):
            never, partial, always = (counts[f"{name}, {density}"] for name in ("Never", "Partial-60", "Always"))
            # Source matches, downstream matches, key lookups, messages, bytes of keys.
            assert never[0] == partial[0] == always[0]
            assert never[1] > partial[1] >= always[1]
            assert never[2] == 0
            assert never[3] == partial[3] == always[3]
        assert counts["Always, 20 %"][2] > 3 * counts["Always, 1 %"][2]
    rows = {row.label: row.ours for row in outcome.rows}
    assert rows["norm-1, thesis' prices: Partial-60 cuts downstream cost up to 5%, least"] > 30
