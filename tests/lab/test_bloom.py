"""What Bloom-filter routing is compared with, against brute force."""

import msgspec
import pytest

from tamis import parse
from tamis.covering.containment import shape
from tamis.lab.bloom import (
    Descent,
    Growing,
    Load,
    Metered,
    bits_of,
    fill_poset,
    fill_table,
    load,
    metered,
    truth,
)
from tamis.lab.workloads.xsiena import XSIENA_E7, XSiena
from tamis.routing.bloom import SbsPoset, make_table
from tamis.sketches import Hashes

#: Few names, so that filters cover each other and are met.
SPEC: XSiena = msgspec.structs.replace(
    XSIENA_E7, subscriptions=150, events=80, names=6, fewest_predicates=1, most_predicates=3, greatest_value=30
)
HASHES = Hashes(1 << 10, 3)


@pytest.fixture(scope="module")
def given() -> Load:
    return load(SPEC, 7)


def met(given: Load) -> list[list[int]]:
    conditions = [parse(text) for text in given.texts]
    return [[at for at, each in enumerate(conditions) if each.matches(event)] for event in given.events]


def test_truth_is_what_conditions_say(given: Load) -> None:
    expected = met(given)
    assert sum(map(len, expected)) > 100
    assert [row.nonzero()[0].tolist() for row in truth(given.workload)] == expected


@pytest.mark.parametrize("name", ["poset", "forest"])
def test_a_descent_finds_what_is_met_and_tests_less_than_all(name: str, given: Load) -> None:
    grown = Growing(name)
    grown.add(shape(text) for text in given.texts[:70])
    grown.add(shape(text) for text in given.texts[70:])
    # Of equal filters the older is above the younger, so they stay two.
    assert grown.size == len(given.texts) > len(grown.graph.forwarded())
    descent = Descent(grown, given.filters)
    found = [descent.match(event) for event in given.events]
    assert [sorted(each.filters) for each in found] == met(given)
    assert all(len(set(each.filters)) == len(each.filters) for each in found)
    assert all(len(each.filters) <= each.tested <= grown.size for each in found)
    assert sum(each.tested for each in found) < grown.size * len(found)


def test_bits_lead_to_all_who_are_met(given: Load) -> None:
    marked, poset, table = given.marked(HASHES), SbsPoset(), make_table("sbstree", HASHES.bits)
    fill_poset(poset, marked)
    fill_table(table, marked[:70])
    fill_table(table, marked[70:], 70)
    for event, expected in zip(given.events, met(given), strict=True):
        assert set(expected) <= set(table.match(poset.match(event)))


def test_metered_predicates_are_the_same_and_counted(given: Load) -> None:
    marked, plain, watched = given.marked(HASHES), SbsPoset(), SbsPoset()
    fill_poset(plain, marked)
    fill_poset(watched, metered(marked))
    assert Metered.compared > 0 == Metered.tested
    assert watched.layout() == plain.layout()
    assert [watched.match(event) for event in given.events] == [plain.match(event) for event in given.events]
    assert Metered.tested > 0
    metered(())
    assert Metered.compared == Metered.tested == 0


def test_a_filter_has_the_bits_of_its_predicates(given: Load) -> None:
    one, other = given.filters[0][0], given.filters[1][0]
    assert bits_of(((one, (3, 9)), (other, (1, 9)))) == (1, 3, 9)
