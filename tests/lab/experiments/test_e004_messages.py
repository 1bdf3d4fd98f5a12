"""Messages for subscriptions on small trees."""

import pytest

from support.outcomes import ours, outcome_of
from tamis.lab.experiment import Scale
from tamis.lab.experiments import e004_messages


def test_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e004_messages.BROKERS, Scale.QUICK, (6, 9))
    monkeypatch.setitem(e004_messages.FILTERS, Scale.QUICK, 30)
    outcome = outcome_of(e004_messages.EXPERIMENT)
    exact = [row for row in outcome.rows if row.good == "exact" and "Eq. 2.53" not in row.label]
    assert len(exact) == 2 + 4
    assert all(row.ours == row.paper for row in exact)
    found = ours(outcome)
    assert found["6 brokers: simple, messages"] == 5 * 30
    assert found["9 brokers: covering / simple"] < found["9 brokers: identity / simple"] < 1
    plain, advertised = (table.rows for table in outcome.tables)
    going = {str(row[0]): row[3] for row in plain}
    assert going["9, simple"] == 8 * 30
    # With one publisher no way is longer than the diameter.
    for row in advertised:
        _, _, filters, links, estimate = row
        assert filters == links
        if str(row[0]).endswith(", 1"):
            assert float(filters or 0) <= float(estimate or 0)
    assert [row[1] for row in advertised] == [n * count for n in (5, 8) for count in (1, 2, 5)]
