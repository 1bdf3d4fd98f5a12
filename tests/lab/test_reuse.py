import pytest

from tamis.lab.reuse import ReuseTree, Strategy, boxes_and_points, tried
from tamis.lab.workloads import Shen
from tamis.routing.conditions import parsed

BROKERS = 7
STRATEGIES: dict[str, Strategy] = {
    "never": ("reuse-never", {}),
    "partial": ("reuse-partial", {"keys": 3}),
}


@pytest.mark.parametrize("covering", [False, True])
def test_events_reach_the_brokers_that_want_them(covering: bool) -> None:
    boxes, points = boxes_and_points(Shen(subscriptions=70, events=20, density=0.1), 7)
    tree = ReuseTree(BROKERS, boxes, "kdtree", covering)
    always: dict[str, Strategy] = {} if covering else {"always": ("reuse-always", {})}
    costs = tried(tree, {**STRATEGIES, **always}, points)
    expected = {
        (number % BROKERS, event)
        for number, box in enumerate(boxes)
        for event, point in enumerate(points)
        if parsed(box).matches(point)
    }
    assert expected
    for cost in costs.values():
        assert cost.delivered == expected
        assert cost.total > cost.source_match > 0
        assert cost.source_sizes.total() == cost.source_matches
        assert cost.downstream_sizes.total() == cost.downstream_matches
    assert costs["never"].key_lookups == costs["never"].keys == 0
    assert costs["partial"].downstream_matches < costs["never"].downstream_matches
    if not covering:
        assert tree.stored() == 70
        assert costs["always"].downstream_matches <= costs["partial"].downstream_matches
