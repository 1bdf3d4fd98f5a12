import numpy as np
import pytest

import tamis
from tamis.matching.algorithms.counting import Counting
from tamis.matching.algorithms.oplists import (
    ABOVE,
    BELOW,
    BETWEEN,
    CHECKED,
    EQUAL,
    FIELDS,
    FIRST,
    LAST,
    OPERATOR,
    SKIP,
    Group,
)
from tamis.matching.algorithms.oplists import sorted_groups as groups_of
from tamis.matching.ranks.conjunctive import ConjunctiveEngine


def sorted_groups(*groups: list[str]) -> tuple[ConjunctiveEngine, list[Group]]:
    engine = Counting()
    texts = [text for group in groups for text in group]
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    ends = np.cumsum([len(group) for group in groups])
    members = [np.arange(end - len(group), end, dtype=np.int32) for group, end in zip(groups, ends, strict=True)]
    return engine, list(groups_of(members, engine.held.view(), engine.predicates(), engine.space))


def operators(group: Group) -> list[int]:
    """Return the operator of each entry."""
    lists = group.lists.reshape(-1, FIELDS)
    return np.repeat(lists[:, OPERATOR], lists[:, LAST] - lists[:, FIRST]).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1", [EQUAL]),
        ("a in (1, 3, 5)", [EQUAL] * 3),
        ("a < 1", [BELOW]),
        ("a >= 1", [ABOVE]),
        ("a <> 1", [BELOW, ABOVE]),
        ("a between 1 and 2", [BETWEEN]),
        ("a > 1 and a < 9 and a <> 5", [BETWEEN] * 2),
        ("a not in (1, 2, 3)", [BELOW, ABOVE, BETWEEN, BETWEEN]),
        (f"a not in ({', '.join(map(str, range(50)))})", [CHECKED]),
        ("a is not null", [BELOW]),
        ("s like 'ab%'", [BETWEEN]),
        ("s like '%ab'", [EQUAL]),
    ],
)
def test_operators(text: str, expected: list[int]) -> None:
    _, (group,) = sorted_groups([text])
    assert operators(group) == expected
    assert group.needed.tolist() == [1]
    assert set(group.slots.tolist()) == {0}


def test_predicates_that_take_null_are_not_listed() -> None:
    _, (group,) = sorted_groups(["a is null and b = 1", "b = 2"])
    assert operators(group) == [EQUAL, EQUAL]
    assert group.needed.tolist() == [1, 1]


def test_lists_are_sorted_and_divided_by_kind() -> None:
    engine, (group,) = sorted_groups([f"a {sign} {value}" for sign in "<>" for value in (3, 1, "'y'", 2, "'x'")])
    rank = engine.space.rank
    lists = group.lists.reshape(-1, FIELDS).tolist()
    assert [row[OPERATOR] for row in lists] == [BELOW, BELOW, ABOVE, ABOVE]
    for row in lists:
        keys = rank[group.keys[row[FIRST] : row[LAST]]].tolist()
        assert keys == sorted(keys)
    found = [set(group.slots[row[FIRST] : row[LAST]].tolist()) for row in lists]
    assert sorted(map(sorted, found)) == [[0, 1, 3], [2, 4], [5, 6, 8], [7, 9]]


def test_every_group_has_lists_of_its_own() -> None:
    _, (left, right) = sorted_groups(["a = 1 and b = 2", "a = 3"], ["b > 2", "b > 1 and c = 1", "a = 1"])
    assert left.needed.tolist() == [2, 1]
    assert right.needed.tolist() == [1, 2, 1]
    assert sorted(left.slots.tolist()) == [0, 0, 1]
    assert sorted(right.slots.tolist()) == [0, 1, 1, 2]
    for group in (left, right):
        lists = group.lists.reshape(-1, FIELDS)
        assert lists[0, FIRST] == 0
        assert lists[-1, LAST] == len(group.keys)
        assert lists[1:, FIRST].tolist() == lists[:-1, LAST].tolist()


def test_skip_leads_to_the_next_attribute() -> None:
    _, (group,) = sorted_groups(["a = 1", "a > 1", "a < 1", "b = 1 and c <> 2"])
    lists = group.lists.reshape(-1, FIELDS)
    assert lists[:, SKIP].tolist() == [3 * FIELDS, 2 * FIELDS, FIELDS, FIELDS, 2 * FIELDS, FIELDS]
