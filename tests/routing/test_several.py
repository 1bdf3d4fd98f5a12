"""Keys with one value or several."""

from collections.abc import Hashable

from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.routing.several import Several

KEYS = ("a", "b", 3)
VALUES = ("x", "y", 7, ("z", 1))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=40))
def test_it_keeps_the_values_of_each_key_in_the_order_in_which_they_came(
    changes: list[tuple[bool, Hashable, Hashable]],
) -> None:
    several: Several[Hashable, Hashable] = Several()
    plain: dict[Hashable, list[Hashable]] = {}
    for add, key, value in changes:
        there = value in plain.get(key, ())
        if add:
            assert several.add(key, value) is not there
            if not there:
                plain.setdefault(key, []).append(value)
        else:
            assert several.remove(key, value) is there
            if there:
                plain[key].remove(value)
                if not plain[key]:
                    del plain[key]
        several.check_invariants()
        assert list(several) == list(plain)
        assert {key: list(several.of(key)) for key in KEYS} == {key: plain.get(key, []) for key in KEYS}
        assert list(several.items()) == [(key, value) for key, values in plain.items() for value in values]
        assert (len(several), several.pairs) == (len(plain), sum(map(len, plain.values())))
        assert all((key in several) == (key in plain) for key in KEYS)
        again: Several[Hashable, Hashable] = Several()
        for key, value in several.items():
            again.add(key, value)
        assert several == again
        again.add("another", "x")
        assert several != again


def test_a_single_value_costs_no_object() -> None:
    several: Several[int, str] = Several()
    several.add(1, "x")
    assert several._by_key == {1: "x"}
    several.add(1, "y")
    several.remove(1, "x")
    assert several._by_key == {1: "y"}
