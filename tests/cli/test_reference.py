import tamis
from tamis.cli.reference import missed_or_extra

CONDITIONS = {1: tamis.parse("a > 1"), 2: tamis.parse("a > 2"), 3: tamis.parse("b = 1")}


def test_a_right_answer_differs_nowhere() -> None:
    assert missed_or_extra(CONDITIONS, {"a": 3}, [2, 1]) == []


def test_missing_and_extra_ids_are_named() -> None:
    assert missed_or_extra(CONDITIONS, {"a": 3}, [3, 1]) == [2, 3]
