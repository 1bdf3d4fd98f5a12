import pytest

from tamis.lab.replay import NAMES, UNIT, History, history, oldest_first, replay, replay_once


@pytest.fixture(scope="module")
def some() -> History:
    return history(600, 0.4, 2, seed=3)


def test_a_history_is_one_of_experiment_c(some: History) -> None:
    assert len(some.comes) == len(some.numbers) == some.additions + some.removals == 600
    assert some.removals == pytest.approx(240, rel=0.2)
    assert len(some.low) == some.additions
    assert (some.low >= 0).all()
    assert (some.low <= some.high).all()
    assert (some.high <= UNIT).all()


def test_all_structures_hold_the_same_and_forward_alike(some: History) -> None:
    costs = {name: replay_once(some, name) for name in NAMES}
    assert {cost.held for cost in costs.values()} == {some.additions - some.removals}
    assert costs["poset"].forwarded == costs["forest"].forwarded
    assert costs["counting"].forwarded == costs["kdtree"].forwarded >= costs["forest"].forwarded
    for name, cost in costs.items():
        assert cost.compared > 0
        assert cost.seconds > 0
        asks = name not in ("poset", "forest")
        assert cost.add_calls == (some.additions if asks else 0)
        assert (cost.check_seconds > 0) is asks
        assert cost.check_seconds <= cost.remove_seconds
    # Whoever is not forwarded remembers one coverer.
    for name in ("forest", "counting", "kdtree", "dominance"):
        assert costs[name].edges == costs[name].held - costs[name].forwarded


def test_with_a_larger_k_more_is_remembered_and_less_uncovered(some: History) -> None:
    one, five = replay(some, [("kdtree", 1), ("kdtree", 5)])
    assert five.edges > one.edges
    assert five.remove_calls < one.remove_calls
    assert five.forwarded == one.forwarded


def test_the_oldest_goes_first(some: History) -> None:
    changed = oldest_first(some)
    assert changed.comes == some.comes
    gone = [number for comes, number in zip(changed.comes, changed.numbers, strict=True) if not comes]
    assert gone == list(range(some.removals))
    assert replay_once(changed, "kdtree").held == some.additions - some.removals
