from typing import Any

import numpy as np
import pytest

from tamis.lab.content import PASSES, Linear, best_seconds, content, distinct, filled
from tamis.lab.workloads import Mics, generate


def test_boxes_and_publications_are_those_of_the_workload() -> None:
    fields: dict[str, Any] = {
        "subscriptions": 50,
        "events": 20,
        "attributes": 4,
        "indexed": 2,
        "wildcard": 0.5,
        "narrowest": 1,
    }
    lows, highs, points = content(3, **fields)
    workload = generate(Mics(**fields), 3)
    rows = workload.conditions.columns().to_pylist()
    for number in range(50):
        asked = {row["attribute"]: (row["low"], row["high"]) for row in rows if row["subscription"] == number}
        for axis in range(4):
            assert (lows[number, axis], highs[number, axis]) == asked.get(f"a{axis}", (0, 255))
    assert [[event[f"a{axis}"] for axis in range(4)] for event in workload.events.rows()] == points.tolist()


def test_the_loop_knows_what_is_covered_and_matched() -> None:
    lows, highs, points = content(5, subscriptions=400, events=200, attributes=2)
    held, new = slice(300), slice(300, 400)
    loop = Linear(*distinct(lows[held], highs[held]), room=100)
    covered = [
        any((lows[held] <= low).all(1) & (highs[held] >= high).all(1))
        for low, high in zip(lows[new], highs[new], strict=True)
    ]
    assert loop.covered(lows[new], highs[new]).tolist() == covered
    matched = [bool(((lows[held] <= point) & (highs[held] >= point)).all(axis=1).any()) for point in points]
    assert loop.matched(points).tolist() == matched
    assert filled(lows[held], highs[held]).match_many(points).tolist() == matched
    twice = loop.insert(np.concatenate((lows[new], lows[new])), np.concatenate((highs[new], highs[new])))
    assert twice[100:].all()
    # What was inserted is forgotten.
    assert loop.covered(lows[new], highs[new]).tolist() == covered


def test_distinct_boxes_keep_their_order() -> None:
    lows = np.array([[3, 3], [1, 1], [3, 3], [1, 1]])
    highs = np.array([[4, 4], [2, 2], [4, 4], [2, 3]])
    first, last = distinct(lows, highs)
    assert first.tolist() == [[3, 3], [1, 1], [1, 1]]
    assert last.tolist() == [[4, 4], [2, 2], [2, 3]]


def test_passes_take_turns_and_are_undone() -> None:
    there: list[str] = []
    order: list[str] = []
    seconds = best_seconds(
        {"a": lambda: there.append("a"), "b": lambda: order.append("b")}, undo={"a": lambda: order.append(there.pop())}
    )
    assert order == ["a", "b"] * PASSES
    assert there == []
    assert seconds.keys() == {"a", "b"}
    assert all(0 <= each < 1 for each in seconds.values())


def test_attributes_that_are_not_in_the_workload() -> None:
    with pytest.raises(TypeError):
        content(1, sides=3)
