"""What a neighbour is told."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.overlays import CONDITIONS
from tamis import covers
from tamis.routing.conditions import canonical
from tamis.routing.offers import Everything, Offer, Uncovered

TEXTS = sorted({canonical(text) for text in CONDITIONS})


@pytest.mark.parametrize("covering", [False, True])
@settings(max_examples=100, deadline=None)
@given(history=st.lists(st.tuples(st.booleans(), st.sampled_from(TEXTS), st.booleans()), max_size=40))
def test_a_neighbour_that_follows_has_what_it_needs(covering: bool, history: list[tuple[bool, str, bool]]) -> None:
    offer = Offer(Uncovered("flat", 1, "kdtree") if covering else Everything())
    sides: Counter[str] = Counter()
    neighbour: set[str] = set()
    for add, condition, take in history:
        if add:
            offer.add(condition)
            sides[condition] += 1
        elif sides[condition]:
            offer.remove(condition)
            sides[condition] -= 1
        if take:
            gone, come = offer.take()
            assert set(gone) <= neighbour
            assert neighbour.isdisjoint(come)
            neighbour = (neighbour - set(gone)) | set(come)
            assert neighbour == set(offer.told)
            wanted = {each for each, count in sides.items() if count}
            assert {each for each in TEXTS if each in offer} == wanted
            assert neighbour <= wanted
            assert all(covers("false", each) or any(covers(told, each) for told in neighbour) for each in wanted)
            if not covering:
                assert neighbour == wanted


def test_what_comes_and_goes_between_two_packets_is_not_spoken_of() -> None:
    offer: Offer[str] = Offer(Everything())
    offer.add("x > 1")
    offer.remove("x > 1")
    assert offer.take() == ((), ())
    offer.add("x > 1")
    assert offer.take() == ((), ("x > 1",))
    offer.remove("x > 1")
    offer.add("x > 1")
    assert offer.take() == ((), ())


def test_a_coverer_and_what_it_covers_change_places_in_one_packet() -> None:
    offer = Offer(Uncovered("flat", 1, "kdtree"))
    offer.add("x > 1")
    offer.add("x > 5")
    assert offer.take() == ((), ("x > 1",))
    offer.remove("x > 1")
    assert offer.take() == (("x > 1",), ("x > 5",))
