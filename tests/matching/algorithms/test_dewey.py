import pytest

import tamis
from tamis.matching.algorithms.dewey import LAST, Dewey


def engine_with(*texts: str) -> Dewey:
    engine = Dewey()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return engine


def labels(engine: Dewey) -> list[str]:
    """The labels of all leaves, as the source writes them."""
    found = []
    for leaf in range(len(engine.owner)):
        components = engine.components[engine.starts[leaf] : engine.starts[leaf + 1]].tolist()
        found.append(".".join(f"{each >> 2}{'*' if each & LAST else ''}" for each in components))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a = 1 or b = 1 or c = 1) and d = 1 and (e = 1 or f = 1)", "1.1 1.2 1.3 2 3*.1 3*.2"),
        ("(a = 1 and b = 1) or c = 1", "1.1 1.2* 2"),
        ("(a = 1 or (b = 1 and c = 1)) and d = 1", "1.1 1.2.1 1.2.2* 2*"),
        ("a = 1", ""),
    ],
)
def test_labels(text: str, expected: str) -> None:
    assert " ".join(labels(engine_with(text))) == expected
    assert " ".join(labels(engine_with("z = 1 and y = 1", text))).strip() == f"1 2* {expected}".strip()


def test_parts_of_a_conjunction_must_all_be_met() -> None:
    engine = engine_with("(a = 1 and b = 1) or (c = 1 and d = 1)", "(a = 1 or b = 1) and (c = 1 or d = 1)")
    assert engine.match({"a": 1, "d": 1}) == [1]
    assert engine.match({"c": 1, "b": 1}) == [1]
    assert engine.match({"a": 1, "b": 1}) == [0]
    assert sorted(engine.match({"d": 1, "c": 1, "a": 1})) == [0, 1]


def test_a_gap_ends_the_evaluation() -> None:
    engine = engine_with("a = 1 and b = 1 and c = 1 and d = 1")
    before = engine.stats()["predicate_tests"]
    assert engine.match({"a": 1, "c": 1, "d": 1}) == []
    assert engine.stats()["predicate_tests"] - before == 2
