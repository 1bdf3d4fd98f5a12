"""All forwarding tables: what they find is what has no bit that the event lacks (specs/004 §10, 7)."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tamis.routing.bloom import Places, make_table, tables
from tamis.routing.bloom.skiptree import SkipTree, pieces, spans

NAMES = sorted(tables())
EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "10"))
#: Numbers of bits with and without fingers, and one that fingers do not divide.
SIZES = (8, 300, 1 << 10)

#: Table 5.1 (specs/004 §5), whose hash functions are not known.
GOLDEN: dict[str, Places] = {
    "f1": (6066, 8581),
    "f2": (2787, 12518),
    "f3": (6441, 10582),
    "f4": (5037, 8516),
    "f5": (5001, 8507),
    "f6": (5102, 6441, 8636, 10582),
}


def test_there_are_all_the_tables_of_the_source() -> None:
    assert NAMES == ["counting", "matrix", "sbstree", "skiptree"]


def places(bits: int, most: int) -> st.SearchStrategy[Places]:
    crowded = st.sets(st.integers(0, bits - 1) | st.integers(0, min(bits, 6) - 1), max_size=most)
    return crowded.map(lambda some: tuple(sorted(some)))


def histories(name: str, bits: int) -> type[RuleBasedStateMachine]:
    held = st.tuples(places(bits, 6), st.sampled_from("fgh"), st.integers(0, 4))

    class History(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.table = make_table(name, bits)
            self.oracle: dict[tuple[Places, str, int], None] = {}

        @rule(some=st.lists(held, min_size=1, max_size=8))
        def add(self, some: list[tuple[Places, str, int]]) -> None:
            for each in some:
                assert self.table.add(*each) is (each not in self.oracle)
                self.oracle[each] = None

        @precondition(lambda self: self.oracle)
        @rule(data=st.data())
        def remove(self, data: st.DataObject) -> None:
            there = st.sampled_from(list(self.oracle))
            for each in data.draw(st.lists(there | held, min_size=1, max_size=8)):
                assert self.table.remove(*each) is (each in self.oracle)
                self.oracle.pop(each, None)

        @rule(event=places(bits, 40))
        def match(self, event: Places) -> None:
            found = self.table.match(event)
            assert len(found) == len(set(found))
            assert set(found) == {to for some, _, to in self.oracle if set(some) <= set(event)}

        @invariant()
        def sound(self) -> None:
            assert len(self.table) == len(self.oracle)
            self.table.check_invariants()

    return History


@pytest.mark.parametrize("bits", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_histories(name: str, bits: int) -> None:
    run_state_machine_as_test(
        histories(name, bits), settings=settings(max_examples=EXAMPLES, stateful_step_count=15, deadline=None)
    )


@pytest.mark.parametrize("name", NAMES)
def test_table_5_1(name: str) -> None:
    table = make_table(name, 1 << 14)
    for key, some in GOLDEN.items():
        table.add(some, key, key)
    assert table.match((2787, 5037, 6066, 8516, 8581, 12518)) == ["f1", "f2", "f4"]
    assert table.match((2787, 12518)) == ["f2"]
    assert table.match(()) == []


def test_survivors_of_table_5_1_along_the_gap() -> None:
    table = SkipTree(1 << 14)
    for name, some in GOLDEN.items():
        table.add(some, name, name)
    left = set(GOLDEN.values())
    for start, stop in pieces(2788, 12518, spans(1 << 14)):
        left -= {some for slot, some in table.slots().items() if table.touching(start, stop) >> slot & 1}
        if (start, stop) == (4096, 6144):
            assert left == {GOLDEN["f2"], GOLDEN["f3"]}
            break
    else:
        pytest.fail("the finger over 4096 to 6143 lies in the gap")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [0, 1, 254, 255, 299])
def test_a_bit_before_the_first_or_behind_the_last_rules_out(name: str, wrong: int) -> None:
    """The gaps that the source forgets: with them left out, the filter stays in."""
    table = make_table(name, 300)
    table.add(tuple(sorted({2, wrong})), "f", "there")
    assert table.match((2,)) == []
    assert table.match(tuple(sorted({2, wrong}))) == ["there"]


@pytest.mark.parametrize("name", NAMES)
def test_filters_with_the_same_bits_are_two(name: str) -> None:
    """By bits and interface alone the second would be taken for a repetition, and its predicates never be known."""
    table = make_table(name, 8)
    assert table.add((1, 2), "x > 1", "a")
    assert table.add((1, 2), "y > 1", "a")
    assert not table.add((1, 2), "y > 1", "a")
    assert table.add((1, 2), "x > 1", "b")
    assert table.match((1, 2)) == ["a", "b"]
    assert table.remove((1, 2), "x > 1", "a")
    assert table.match((0, 1, 2)) == ["a", "b"]
    assert table.remove((1, 2), "y > 1", "a")
    assert table.match((1, 2)) == ["b"]
    assert not table.remove((1, 2), "y > 1", "a")


@pytest.mark.parametrize("name", NAMES)
def test_a_filter_without_bits_always_matches(name: str) -> None:
    table = make_table(name, 8)
    table.add((), "true", "a")
    assert table.match(()) == table.match((3,)) == ["a"]
    table.remove((), "true", "a")
    assert table.match((3,)) == []


@pytest.mark.parametrize("name", NAMES)
def test_interfaces_come_in_the_order_in_which_they_came(name: str) -> None:
    table = make_table(name, 64)
    for number, interface in enumerate("zebra"):
        table.add((number,), interface, interface)
    everything = tuple(range(64))
    assert table.match(everything) == list("zebra")
    table.remove((0,), "z", "z")
    table.add((0,), "z", "z")
    assert table.match(everything) == list("ebraz")


@given(st.lists(places(300, 5), max_size=20), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_layout_does_not_depend_on_the_order(some: list[Places], random: object) -> None:
    for name in NAMES:
        first, second = make_table(name, 300), make_table(name, 300)
        for each in some:
            first.add(each, each, 0)
        shuffled = list(some)
        random.shuffle(shuffled)  # type: ignore[attr-defined] # it is a Random
        for each in shuffled:
            second.add(each, each, 0)
        assert first.layout() == second.layout()


@pytest.mark.parametrize("name", NAMES)
def test_bits_that_are_none_are_refused(name: str) -> None:
    table = make_table(name, 8)
    for wrong in ((8,), (-1, 2), (2, 1), (1, 1)):
        with pytest.raises(ValueError, match="from 0 to 7 in ascending order"):
            table.add(wrong, "f", "a")
    for beyond in ((8,), (-1, 2)):
        with pytest.raises(ValueError, match="from 0 to 7"):
            table.match(beyond)
    assert len(table) == 0
    table.check_invariants()


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no forwarding table 'trie'; there are: counting, matrix, sbstree, skiptree"):
        make_table("trie", 8)


def test_fingers_of_the_source() -> None:
    assert spans(1 << 14) == (8192, 2048, 512, 128)
    assert spans(8) == (128,)
    assert list(pieces(0, 1 << 14, spans(1 << 14))) == [(0, 8192), (8192, 16384)]
    assert list(pieces(100, 700, spans(1 << 14))) == [
        (100, 128),
        (128, 256),
        (256, 384),
        (384, 512),
        (512, 640),
        (640, 700),
    ]


@given(st.integers(0, 2_000), st.integers(0, 2_000), st.sampled_from((8, 300, 2_000)))
def test_pieces_make_up_the_gap(start: int, stop: int, bits: int) -> None:
    lengths = spans(bits)
    found = list(pieces(start, stop, lengths))
    assert [bit for low, high in found for bit in range(low, high)] == list(range(start, stop))
    for low, high in found:
        assert high - low < lengths[-1] or (high - low in lengths and low % (high - low) == 0)
