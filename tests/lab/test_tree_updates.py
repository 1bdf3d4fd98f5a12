from itertools import pairwise

from tamis.lab.tree_updates import TAGGED, Doubled, Relative, drawn, followed, overlays, updates_of
from tamis.routing.prefix import Optimizer, wdiff


def test_with_many_names_false_deliveries_come_from_the_root() -> None:
    course = followed(drawn(2_000, 30, 7), 0.3)
    whole = course.whole
    assert whole.events == 270
    assert whole.by_root / whole.false > 0.95
    assert whole.rate > 0.95
    assert sum(course.tagged.values()) == 270
    assert course.tagged[TAGGED[1]] > course.tagged[TAGGED[0]]


def test_updates_become_rarer() -> None:
    course = followed(drawn(20, 40, 7), 0.3, windows=4)
    assert [each.events for each in course.windows] == [90] * 4
    waits = [later - earlier for earlier, later in pairwise(course.updates)]
    half = len(waits) // 2
    assert sum(waits[half:]) > 3 * sum(waits[:half])
    assert len(course.deliveries) == course.whole.right + course.whole.false


def test_more_is_tagged_at_the_root_where_splits_stop() -> None:
    given = drawn(20, 20, 7)
    fork, stop = followed(given, 0.8), followed(given, 0.8, split="stop")
    assert fork.updates == stop.updates
    assert fork.tagged[TAGGED[0]] > stop.tagged[TAGGED[0]]
    assert fork.deliveries < stop.deliveries


def test_the_overlay_delivers_what_one_broker_delivers() -> None:
    for names in (20, 2_000):
        whole = overlays(drawn(names, 6, 7), 0.3)
        assert whole.different == 0
        assert whole.updates == whole.updates_alone > 1
        assert whole.packets > whole.packets_identity


def test_readings_of_the_equation_divide_by_what_they_say() -> None:
    filters = drawn(20, 12, 7).filters
    optimizers = [Optimizer(1.0), Doubled(1.0), Relative(1.0)]
    for optimizer in optimizers:
        for wanted in filters[:30]:
            optimizer.add(wanted)
        first = optimizer.tree.snapshot(1)
        optimizer.learn(first)
        assert optimizer.difference == 0
        for wanted in filters[30:]:
            optimizer.add(wanted)
    printed, doubled, relative = optimizers
    second = printed.tree.snapshot(2)
    difference = wdiff(first, second)
    assert printed.difference == difference
    assert doubled.difference == 2 * difference
    sizes = [sum(count / height for height, count in enumerate(each.levels) if height) for each in (first, second)]
    assert abs(relative.difference - difference * sum(sizes) / sizes[0]) < 1e-12
    assert updates_of(filters, Optimizer(0.3)) < updates_of(filters, Doubled(0.3)) <= updates_of(filters, Relative(0.3))
