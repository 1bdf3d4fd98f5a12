"""The steps of forwarding tables, and the plain counting table beside the others."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tamis.lab.forwarding import NAMES, PlainCounting, Trie, cells, columns, heat
from tamis.routing.bloom import Places, make_table

PLACES = st.sets(st.integers(0, 15), min_size=1, max_size=5).map(lambda some: tuple(sorted(some)))


@given(st.lists(PLACES, max_size=12), st.lists(PLACES, max_size=4), st.randoms(use_true_random=False))
def test_plain_counting_finds_what_the_sbstree_finds(
    filters: list[Places], events: list[Places], random: Random
) -> None:
    plain, tree = PlainCounting(16), make_table("sbstree", 16)
    for number, places in enumerate(filters):
        plain.add(places, number, number)
        tree.add(places, number, number)
    for number, places in enumerate(filters):
        if random.random() < 0.3:
            assert plain.remove(places, number, number)
            assert tree.remove(places, number, number)
    plain.check_invariants()
    for event in events:
        assert plain.match(event) == tree.match(event)


def test_the_steps_of_a_walk() -> None:
    table = make_table("sbstree", 16)
    for number, places in enumerate(((1, 2), (1, 3), (4,), (5, 6), (7,))):
        table.add(places, number, number)
    trie = Trie(table)
    # The root, 1 and 1-2; the root has four edges, 1 has two.
    assert trie.walk((1, 2)) == (3, 6, 2 + 2 + 0)
    assert trie.walk(()) == (1, 4, 0)
    assert trie.walk((8, 9, 10, 11, 12)) == (1, 4, 4)


def test_postings_are_what_is_counted() -> None:
    plain = PlainCounting(16)
    for number, places in enumerate(((1, 2), (1, 3), (4,))):
        plain.add(places, number, number)
    assert plain.postings((1, 2, 9)) == 3
    assert plain.match((1, 2, 9)) == [0]


def test_heat() -> None:
    filters = [(1, 2), (1, 3), (4,), (4,)]
    found = heat(filters, [(1, 2), (4, 9)], 16)
    assert found.microseconds.keys() == set(NAMES)
    assert found.disagree == 0
    assert (found.bits, found.found, found.postings) == (2, 1.5, (3 + 1) / 2)
    assert len(cells(found)) == len(columns())
