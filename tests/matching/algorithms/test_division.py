import numpy as np

import tamis
from tamis.matching.algorithms.counting import Counting
from tamis.matching.algorithms.division import (
    ATTRIBUTE,
    FIELDS,
    LEFT,
    MIDDLE,
    PARENT,
    RIGHT,
    ROOT,
    Tree,
    behind,
    divide,
    place,
)
from tamis.matching.ranks.lists import Ints, Lists, Longs


def engine_with(*texts: str) -> Counting:
    engine = Counting()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return engine


def divided(engine: Counting, count: int, capacity: int, spare: int) -> tuple[Ints, int, Ints, Longs, Ints]:
    """Divide the leaf of the root: the clusters that still wait, how many were made, fields, ranges, order."""
    fields = np.full((100, FIELDS), -1, np.int32)
    ranges = np.zeros((100, 2), np.int64)
    ranges[ROOT, 1] = count
    order = np.arange(count, dtype=np.int32)
    waiting, used = divide(
        np.array([ROOT], np.int32),
        capacity,
        fields,
        ranges,
        order,
        np.arange(1, spare + 1, dtype=np.int32),
        engine.held.view(),
        engine.predicates(),
        np.zeros(engine.space.dimensions),
        np.zeros(engine.space.dimensions, np.int32),
    )
    return waiting, used, fields, ranges, order


def test_doors_are_found_by_attribute() -> None:
    doors = Lists()
    doors.assign(0, [2, 10, 5, 11, 9, 12])
    doors.reserve(2)
    view = doors.view()
    assert [behind(0, attribute, view) for attribute in range(11)] == [-1, -1, 10, -1, -1, 11, -1, -1, -1, 12, -1]
    assert behind(1, 2, view) == -1


def test_ranges_divide_the_order() -> None:
    engine = engine_with(*(f"a = {number % 4} and b > {number}" for number in range(20)))
    waiting, used, fields, ranges, order = divided(engine, 20, 3, 99)
    assert not len(waiting)
    assert sorted(order.tolist()) == list(range(20))
    clusters = range(used + 1)
    sizes = (ranges[clusters, 1] - ranges[clusters, 0]).tolist()
    assert sum(sizes) == 20
    assert max(sizes) <= 3
    assert (fields[1 : used + 1, ATTRIBUTE] >= 0).all()
    assert (fields[used + 1 :] == -1).all()


def test_a_cut_has_the_halves_on_its_sides() -> None:
    engine = engine_with(*(f"a = {number}" for number in range(6)), "a between 2 and 3")
    _, used, fields, ranges, order = divided(engine, 7, 2, 99)
    rank, space = engine.space.rank, engine.space
    cuts = [cluster for cluster in range(1, used + 1) if fields[cluster, MIDDLE] >= 0]
    assert cuts
    for cluster in cuts:
        left, right = fields[cluster, [LEFT, RIGHT]].tolist()
        assert fields[[left, right], PARENT].tolist() == [cluster, cluster]
        middle = rank[fields[cluster, MIDDLE]]
        for position in order[slice(*ranges[left])].tolist():
            assert rank[space.bounds[engine.held[position][0]][-1]] <= middle
        for position in order[slice(*ranges[right])].tolist():
            assert rank[space.bounds[engine.held[position][0]][0]] >= middle


def test_it_stops_when_numbers_run_out() -> None:
    engine = engine_with(*(f"a = {number}" for number in range(6)), *(f"b{number} = 1" for number in range(6)))
    waiting, used, _, ranges, order = divided(engine, 12, 1, 4)
    assert len(waiting) > 0
    assert used <= 4
    assert sorted(order.tolist()) == list(range(12))
    assert int((ranges[:, 1] - ranges[:, 0]).sum()) == 12


def test_what_cannot_be_divided_is_left() -> None:
    waiting, used, _, ranges, _ = divided(engine_with(*["a = 1"] * 5), 5, 2, 99)
    assert not len(waiting)
    assert used == 1
    assert ranges[1].tolist() == [0, 5]


def test_a_place_is_behind_the_narrowest_door() -> None:
    texts = ["a > 0 and b = 1", "c is null and b > 1", "c = 1", "a between 1 and 2 and b <> 1", "a = 4", "b = 3"]
    engine = engine_with(*texts)
    space, held = engine.space, engine.held
    a, b = (int(space.dimension[each]) for each in held[0].tolist())
    fields = np.full((3, FIELDS), -1, np.int32)
    doors, nothing = Lists(), Lists()
    doors.assign(ROOT, [number for door in sorted([(a, 1), (b, 2)]) for number in door])
    where = np.full(6, -1, np.int32)
    tree = Tree(fields, nothing.view(), doors.view())
    place(np.arange(6, dtype=np.int32), tree, held.view(), engine.predicates(), where)
    assert where.tolist() == [2, 2, ROOT, 1, 1, 2]
