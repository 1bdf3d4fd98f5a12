"""The experiments on healing at a small scale: what they claim holds there, too."""

import networkx as nx
import pytest

from tamis.lab.experiment import Context, Outcome, Scale
from tamis.lab.experiments import e000_sketch_error, e000_stabilise, e000_transient
from tamis.lab.experiments.e000_transient import POLICIES, Size, most_even
from tamis.simulation.topologies import heap, line


def outcome(module: object) -> Outcome:
    """Run an experiment quickly; its progress goes from the beginning to the end."""
    steps: list[tuple[int, int]] = []
    run = module.EXPERIMENT.run  # type: ignore[attr-defined]
    found: Outcome = run(Context(Scale.QUICK, 7, lambda done, total: steps.append((done, total))))
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1]
    return found


def row(found: Outcome, label: str) -> float:
    (figure,) = (each.ours for each in found.rows if each.label == label)
    return figure


def test_rounds_do_not_exceed_the_diameter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_stabilise.SIZES, Scale.QUICK, (8, 10))
    found = outcome(e000_stabilise)
    for exchange in ("full", "sketch"):
        assert 0.5 < row(found, f"{exchange}: rounds / diameter, most") <= 1
        assert row(found, f"{exchange}: corrections once all was right") == 0
    assert row(found, "bytes of an exchange, 1,000 entries that are right: full / sketch") > 80


def test_trials_agree_with_the_estimate_in_which_bits_depend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_sketch_error.TRIALS, Scale.QUICK, 1_000)
    found = outcome(e000_sketch_error)
    assert row(found, "3 items in one set alone: Theorem 6") == pytest.approx(0.026, abs=0.0005)
    assert row(found, "3 items in one set alone: bits that depend") == pytest.approx(0.0037, abs=0.0001)
    assert row(found, "3 items in each set alone: Theorem 6") == pytest.approx(0.0007, abs=0.0001)
    assert row(found, "1 item in one set alone: trials") == pytest.approx(0.155, abs=0.04)
    assert row(found, "3 items in one set alone: trials") < 0.015


def test_adaptive_is_at_most_a_third_above_the_better_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_transient.SIZES, Scale.QUICK, Size(16, 2, 1, (2.0, 60.0), 1))
    found = outcome(e000_transient)
    for load in ("heavy", "light"):
        assert row(found, f"{load}: adaptive / better of strawman and static, most") <= 4 / 3
    assert row(found, "light, 60 s: adaptive / strawman") < 1 / 3
    assert len(found.figure.series) == 2 * len(POLICIES)
    for tree, kind, policy, total, overhead, in_vain, changes, _ in found.tables[0].rows:
        assert overhead == pytest.approx(in_vain + changes), (tree, kind, policy)  # type: ignore[operator]
        assert total >= overhead  # type: ignore[operator]
        if policy == "strawman":
            # Both sides tell everybody twice: 14 and the two of the returning link, and 14 once more.
            assert in_vain == 0
            assert 2 * 14 <= changes <= 2 * 14 + 6  # type: ignore[operator]


def test_the_most_even_link() -> None:
    assert set(most_even(line(4))) == {1, 2}
    tree = heap(15)
    rest = nx.Graph(tree)
    rest.remove_edge(*most_even(tree))
    assert sorted(map(len, nx.connected_components(rest))) == [7, 8]
