"""Who wants what."""

from hypothesis import given, settings
from hypothesis import strategies as st

from support.overlays import CONDITIONS, EVENTS
from tamis import parse
from tamis.routing.table import SMALL, Table

HOLDERS = ("a", "b", 3, 4)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(HOLDERS), st.sampled_from(CONDITIONS)), max_size=60))
def test_a_table_knows_who_wants_an_event(changes: list[tuple[bool, str | int, str]]) -> None:
    table, held = Table(), dict.fromkeys(HOLDERS, frozenset[str]())
    for add, holder, condition in changes:
        if add:
            assert table.add(holder, condition) == (condition not in held[holder])
            held[holder] |= {condition}
        else:
            assert table.remove(holder, condition) == (condition in held[holder])
            held[holder] -= {condition}
        table.check_invariants()
        assert len(table) == sum(map(len, held.values()))
    for event in EVENTS:
        want = {holder for holder in HOLDERS if any(parse(each).matches(event) for each in held[holder])}
        found = table.interested(event)
        assert len(found) == len(set(found))
        assert set(found) == want
        met = {condition for conditions in held.values() for condition in conditions if parse(condition).matches(event)}
        assert set(table.met(event)) == met


def test_a_table_answers_in_the_order_of_the_conditions_also_when_it_is_large() -> None:
    table = Table()
    for number in range(SMALL + 5):
        table.add(number, f"x > {-number}")
    assert table.interested({"x": 1}) == list(range(SMALL + 5))


def test_a_dropped_holder_holds_nothing() -> None:
    table = Table()
    table.add("a", "x > 1")
    table.add("a", "x > 2")
    table.add("b", "x > 2")
    assert table.drop("a") == ["x > 1", "x > 2"]
    assert table.drop("a") == []
    assert table.held_by("a") == []
    assert table.holders("x > 2") == ["b"]
    assert "x > 1" not in table
    assert list(table) == ["x > 2"]


def test_a_table_that_is_sound_is_kept_and_another_one_made_anew() -> None:
    pairs = [("a", "x > 3"), ("a", "x > 5"), ("b", "x > 3")]
    for spoil in ("nothing", "_held", "_holders", "_number", "_text", "_index", "_next"):
        table = Table()
        for holder, condition in pairs:
            table.add(holder, condition)
        for number in range(SMALL):
            table.add("c", f"y = {number}")
        assert table.interested({"x": 4}) == ["a", "b"]  # there is an index now
        wanted = list(table.pairs())
        match spoil:
            case "_held":
                table._held.remove("a", "x > 5")
            case "_holders":
                table._holders.add("x > 5", "b")
            case "_number":
                del table._number["x > 5"]
            case "_text":
                table._text[table._number["x > 5"]] = "x > 3"
            case "_index":
                assert table._index is not None
                table._index.remove(table._number["x > 5"])
            case "_next":
                table._next = 0
        mended = table.mended(wanted)
        assert (mended is table) == (spoil == "nothing")
        mended.check_invariants()
        assert list(mended.pairs()) == wanted
        assert table.mended(pairs[:1]).interested({"x": 4}) == ["a"]
