"""Where a region belongs below a node."""

from hypothesis import given, settings
from hypothesis import strategies as st

from support.prefixes import crowded, substrings, tree_of
from tamis.language import Expression
from tamis.routing.prefix import filters
from tamis.routing.prefix.places import place


@given(st.lists(crowded | substrings, max_size=8), crowded | substrings)
@settings(max_examples=150)
def test_halves_and_rest_are_the_region(planted: list[Expression], asked: Expression) -> None:
    root = tree_of(planted).root
    for region in (each[0] for each in filters(asked) if each):
        halves, rest, into, covered = place(root, region)
        for child, half in halves:
            assert half.within(region)
            assert half.within(child.region)
            assert not child.region.within(region)
        left = region
        for _, half in halves:
            after = left.minus(half)
            assert after is not None
            left = after
        assert left == rest
        if into is not None:
            assert rest.within(into.region)
            continue
        assert all(child.region.within(rest) and child.region != rest for child in covered)
        for child in root.children():
            if child.region.name == region.name and not (child.region.filters or rest.filters):
                assert (rest.both(child.region) is not None) is (child in covered)
