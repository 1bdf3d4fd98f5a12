"""The experiments on prefix forwarding: small runs whose outcome does not depend on the clock."""

import pytest

from support.outcomes import ours, outcome_of
from tamis.lab.experiment import Scale, Table
from tamis.lab.experiments import e004_e3_tree_sizes as e3
from tamis.lab.experiments import e004_e4_tree_updates as e4
from tamis.lab.experiments import e004_e6_poset as e6
from tamis.lab.prefix import load
from tamis.lab.workloads.search_log import SearchLog


def numbers(table: Table) -> dict[str, list[float]]:
    """Return the rows by what they are about."""
    return {str(name): [float(value) for value in values if value is not None] for name, *values in table.rows}


# --- E3 -------------------------------------------------------------------------------------------------


def test_sizes_of_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e3.SIZES, Scale.QUICK, (50, 150))
    monkeypatch.setitem(e3.EVENTS, Scale.QUICK, 30)
    monkeypatch.setattr(e3, "NAMES", (12, 2_000))
    outcome = outcome_of(e3.EXPERIMENT)
    assert all("names" in row.label for row in outcome.rows)
    assert [table.title for table in outcome.tables] == ["12 names", "2,000 names"]
    few, many = map(numbers, outcome.tables)
    for law in e3.LAWS:
        for found in (few, many):
            early, late = found[f"{law}, 50"], found[f"{law}, 150"]
            assert early[0] < late[0]
            for nodes, height, _, largest, mean, highest in (early, late):
                assert 0 <= mean <= largest < nodes
                assert highest <= height
        # With few names filters split each other, and events meet much.
        assert few[f"{law}, 150"][0] > many[f"{law}, 150"][0]
        assert few[f"{law}, 150"][4] > many[f"{law}, 150"][4]


# --- E4 -------------------------------------------------------------------------------------------------


@pytest.fixture
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e4.ROUNDS, Scale.QUICK, 20)
    monkeypatch.setitem(e4.SHORT, Scale.QUICK, 12)
    monkeypatch.setitem(e4.SHORTEST, Scale.QUICK, 8)


@pytest.mark.usefixtures("few_rounds")
def test_updates_and_false_positives() -> None:
    outcome = outcome_of(e4.EXPERIMENT)
    found = ours(outcome)
    assert found["deliveries missed, in all runs"] == 0
    assert found["false deliveries if every filter makes a new tree"] == 0
    assert found["of the deliveries of the whole overlay, other than those of one broker"] == 0
    assert found["updates in the overlay / updates with one broker"] == 1
    assert found["packets with events / those of identity-based routing"] >= 1
    assert found["20 names, threshold 30 %: updates"] > found["20 names, threshold 80 %: updates"] > 0
    assert found["2,000 names, threshold 30 %, short run: false deliveries / deliveries"] > 0.95
    readings = numbers(outcome.tables[-1])
    for names in e4.NAMES:
        printed = readings[f"by the sum of both sizes (as printed), {names:,}"]
        mean = readings[f"by the mean of both sizes, {names:,}"]
        last = readings[f"by the size of the last tree, {names:,}"]
        assert printed[0] < mean[0]
        # The old tree is smaller than the mean of both.
        assert mean[0] <= last[0]


# --- E6 -------------------------------------------------------------------------------------------------


def test_the_prefix_against_the_poset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e6.SIZES, Scale.QUICK, (100, 300))
    outcome = outcome_of(e6.EXPERIMENT)
    found = ours(outcome)
    assert found["pairs of event and user that are wrong on either side"] == 0
    assert found["300 filters: poset / routing tree, pairs compared to insert"] > 10
    assert found["300 filters: poset / routing tree without an index, filters tested to match by content"] >= 1
    work = numbers(outcome.tables[1])
    for size in (100, 300):
        met, poset_tests, tree_tests, nodes, *_, top, _ = work[f"{size}"]
        assert met == nodes > 0
        assert tree_tests <= poset_tests
        assert poset_tests >= top


def test_what_a_filter_goes_by_on_its_way_down() -> None:
    sides = e6.Sides(load(SearchLog(subscriptions=60, events=1), 7))
    sides.grow(50)
    assert len(sides.tree) == len(sides.relation.texts) == 50
    for wanted in sides.given.filters[50:]:
        children, pairs = e6._way(sides.tree, wanted)
        assert children >= len(sides.tree.root.children()) - 1
        assert 0 <= pairs <= children
    edges = sides.poset.edges()
    for number in range(50, 60):
        sides.into_poset(number)
    for number in range(50, 60):
        sides.out_of_poset(number)
    assert sides.poset.edges() == edges
