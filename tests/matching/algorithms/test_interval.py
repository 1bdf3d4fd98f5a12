import pytest

import tamis
from tamis.matching.algorithms.interval import Interval


def engine_with(*texts: str) -> Interval:
    engine = Interval()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return engine


@pytest.mark.parametrize(
    ("text", "intervals", "end"),
    [
        (
            "(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)",
            [(0, 1), (0, 1), (0, 1), (1, 2), (2, 3), (2, 3)],
            3,
        ),
        ("(a = 1 and b = 1) or (c = 1 and d = 1)", [(0, 1), (1, 3), (0, 2), (2, 3)], 3),
        (
            "((a = 1 and b = 1) or c = 1) and (d = 1 or (e = 1 and f = 1))",
            [(0, 1), (1, 2), (0, 2), (2, 4), (2, 3), (3, 4)],
            4,
        ),
        ("a = 1", [(0, 1)], 1),
    ],
)
def test_labels(text: str, intervals: list[tuple[int, int]], end: int) -> None:
    for engine, first in ((engine_with(text), 0), (engine_with("z = 1 and y = 1", text), 2)):
        found = [tuple(each) for each in engine.intervals[first:].tolist()]
        assert found == intervals
        assert engine.ends[engine.owner[-1]] == end


def test_cuts_are_not_shared_between_conjunctions() -> None:
    engine = engine_with("(a = 1 and b = 1) or (c = 1 and d = 1)")
    assert engine.match({"a": 1, "d": 1}) == []
    assert engine.match({"c": 1, "b": 1}) == []
    assert engine.match({"a": 1, "b": 1}) == [0]
    assert engine.match({"d": 1, "c": 1}) == [0]


def test_only_expressions_with_a_met_predicate_are_looked_at() -> None:
    engine = engine_with("a = 1 and b = 1", "c = 1 or d = 1", "a = 1 and a < 5")
    assert engine.match({"a": 1}) == [2]
    assert engine.stats()["candidates"] == 2
    assert engine.stats()["predicate_tests"] == 3
