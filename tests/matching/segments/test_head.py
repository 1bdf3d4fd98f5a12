from tamis.language import parse
from tamis.matching.segments.head import Entry, Head
from tamis.matching.segments.values import Values


def entry(id: int, condition: str, born: int = 1) -> Entry:
    return Entry(id, parse(condition), condition, born)


def test_a_part_has_the_entries_of_a_version() -> None:
    head = Head()
    first, second = entry(1, "a = 1"), entry(2, "a > 0")
    head.append(first)
    head.append(second)
    made = head.finished(1)
    assert made is not None
    part, entries = made
    assert sorted(part.ids.take(part.match(Values({"a": 1}), 1, 9))) == [1, 2]
    assert sorted(each.id for each in entries) == [1, 2]
    head.remove(first, 2)
    head.append(entry(1, "a = 5", born=2))
    made = head.finished(2)
    assert made is not None
    part, _ = made
    assert sorted(part.ids.take(part.match(Values({"a": 1}), 2, 9))) == [2]
    assert sorted(part.ids.take(part.match(Values({"a": 5}), 2, 9))) == [1, 2]


def test_one_without_living_entries_makes_no_part() -> None:
    head = Head()
    only = entry(1, "a = 1")
    head.append(only)
    head.remove(only, 2)
    assert head.finished(2) is None


def test_whoever_is_interrupted_leaves_nothing_behind() -> None:
    head = Head()
    head.append(entry(1, "a = 1"))
    # As if the second had been drafted, but not come further.
    head._drafting.append(parse("a = 2"))
    head.append(entry(3, "a = 3"))
    made = head.finished(1)
    assert made is not None
    part, _ = made
    assert [part.ids.take(part.match(Values({"a": value}), 1, 9)) for value in (1, 2, 3)] == [[1], [], [3]]
