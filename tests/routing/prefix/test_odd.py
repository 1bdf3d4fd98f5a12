"""Children with filters are found by their texts."""

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from support.prefixes import one_filter
from tamis.language import Kind
from tamis.routing.prefix.odd import Odd
from tamis.routing.prefix.region import Region, point

texts = st.text("ab", min_size=1, max_size=6)


class Held(NamedTuple):
    region: Region


def like(pattern: str) -> Held:
    (only,) = one_filter(f"s like '{pattern}'")
    return Held(only)


@given(st.lists(texts, unique=True), st.lists(texts), texts, st.text("ab"))
@settings(max_examples=150)
def test_texts_within_and_around(held: list[str], gone: list[str], asked: str, value: str) -> None:
    odd: Odd[Held] = Odd()
    suffix = like("%a_")
    odd.add(suffix)
    for text in held:
        odd.add(like(f"%{text}%"))
    for text in dict.fromkeys(gone):
        if text in held:
            held.remove(text)
            odd.remove(like(f"%{text}%"))
    assert sorted(map(repr, odd)) == sorted(map(repr, [suffix, *(like(f"%{text}%") for text in held)]))
    (region,) = one_filter(f"s like '%{asked}%'")
    assert (odd.find(region) is not None) is (asked in held)
    within = {like(f"%{text}%") for text in held if text in asked}
    around = {like(f"%{text}%") for text in held if asked in text}
    assert set(odd.covering(region)) == within | {suffix}
    assert set(odd.related(region)) == within | around | {suffix}
    assert len(odd.related(region)) == len(within | around) + 1
    met = odd.met(point(Kind.STRING, value), value, {"s": value})
    assert len(met) == len(set(met))
    assert set(met) == {each for each in odd if each.region.filters[0].matches({"s": value})}
    odd.remove(suffix)
    for text in held:
        odd.remove(like(f"%{text}%"))
    assert not odd
