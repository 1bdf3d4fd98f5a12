"""The experiments of specs/003 about numbers of messages and broken promises, on a small scale."""

import pytest

from support.outcomes import ours, outcome_of
from tamis.lab.experiment import Scale
from tamis.lab.experiments import e003_table2, e003_table3, e003_weaker


def numbers(row: list[str | float | None]) -> list[float]:
    return [float(each) for each in row[1:] if each is not None]


def test_different_radii() -> None:
    outcome = outcome_of(e003_table2.EXPERIMENT)
    found = ours(outcome)
    assert found["events, of 2,000 judged by brute force, that are wrong"] == 0
    spread, tried = outcome.tables
    for row in spread.rows:
        ranges, fewest, most, affected, least, greatest = numbers(row)
        assert fewest <= ranges <= most < least <= affected <= greatest
        assert ranges == found[f"{row[0]} subscriptions: messages for an event, CN(r)"]
    equal, random = (numbers(row) for row in tried.rows[-2:])
    # Nobody tells as many apart who was told the same value first.
    assert random[1] > 1.3 * equal[1]
    assert equal[2] == pytest.approx(random[2], rel=0.1)


def test_what_the_paper_has_is_compared_on_its_scale_alone() -> None:
    count = {20_000: [e003_table2.Count(30.5, 490.0), e003_table2.Count(30.7, 500.0)]}
    for way, mean, paper in ((e003_table2.CN, 30.6, 30), (e003_table2.UNICAST, 495.0, 499)):
        [full] = e003_table2._rows(count, way, Scale.FULL)
        assert full.ours == pytest.approx(mean)
        assert full.paper == paper
        [quick] = e003_table2._rows(count, way, Scale.QUICK)
        assert quick.paper is None


def test_one_radius() -> None:
    outcome = outcome_of(e003_table3.EXPERIMENT)
    found = ours(outcome)
    assert found["events, of 6,000 judged by brute force, that are wrong"] == 0
    for size in (200, 500):
        assert found[f"{size} subscriptions: messages for an event, unicast"] == pytest.approx(size / 117, rel=0.1)
        early, late = (
            found[f"{size} subscriptions, {when}: messages for an event, CN(lid)"]
            for when in ("all there from the start", "100 of them come in between")
        )
        assert 0 < early < late < 1
    line = "500 subscriptions, all there from the start: messages for an event, CN(lid)"
    assert found[f"{line} on a line"] - found[line] == pytest.approx(1 / 102, rel=0.2)
    tables = outcome.tables
    for row in [*tables[0].rows, *tables[1].rows]:
        _, _, _, arcs, _, _, intervals, _, _ = numbers(row)
        assert arcs < intervals <= 2 * arcs
    # Equal centres stay equal: a turn is one message then.
    together, *apart = (numbers(row)[0] for row in tables[2].rows)
    assert together == pytest.approx(1 / 102, rel=0.2)
    assert all(together < each for each in apart)


def test_weaker_ways_tell_too_much_and_ours_does_not() -> None:
    outcome = outcome_of(e003_weaker.EXPERIMENT)
    found = ours(outcome)
    assert found["left a radius or more away from the value, all ways and sizes"] == 0
    for what in ("needless notifications", "invented values", "missed"):
        assert found[f"500 subscriptions, ours: {what}"] == 0
    for name, (way, _) in e003_weaker.WAYS.items():
        assert found[f"500 subscriptions, {name}: needless"] > 10
        assert found[f"500 subscriptions, {name}: notifications / ours"] > 1
        assert (f"500 subscriptions, {name}: invented" in found) == (way == "pseudo")
    # The wider the tree, the fewer are told for the sake of others.
    for told in ("from parents", "pseudo-values"):
        chain, narrow, wide = (
            found[f"500 subscriptions, {told}, {tree}: needless"] for tree in ("chain", "tree of 4", "tree of 16")
        )
        assert chain > narrow > wide
