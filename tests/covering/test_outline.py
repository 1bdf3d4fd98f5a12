"""Outlines compare as conditions do."""

import datetime as dt
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.judges import Source
from tamis.covering.outline import Outline, outline, sortable
from tamis.language.values import Kind

NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.sampled_from([0, 0.0, -0.0, 2**53, 2**53 + 1, 2.0**53, 2**62 + 1, 2**63 - 1, float("inf"), float("-inf")]),
)
VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.NUMBER: NUMBERS,
    Kind.STRING: st.text(st.sampled_from("\0\x01aé\uffff😀"), max_size=4),
    Kind.BOOLEAN: st.booleans(),
    Kind.TIMESTAMP: st.datetimes(timezones=st.just(dt.UTC)),
    Kind.DATE: st.dates(),
}
CUTS = st.sampled_from(list(VALUES)).flatmap(
    lambda kind: st.one_of(st.just((int(kind),)), st.tuples(st.just(int(kind)), VALUES[kind], st.integers(0, 1)))
)


@given(one=CUTS, other=CUTS)
def test_bytes_sort_as_cuts_do(one: Any, other: Any) -> None:
    assert (sortable(one) < sortable(other)) is (one < other)
    assert (sortable(one) == sortable(other)) is (one == other)


def contains(one: Outline, other: Outline) -> bool:
    places = {name: at for at, name in enumerate(other.attributes)}
    return all(
        name in places
        and one.ends[2 * at] <= other.ends[2 * places[name]]
        and one.ends[2 * at + 1] >= other.ends[2 * places[name] + 1]
        for at, name in enumerate(one.attributes)
    )


@given(seed=st.integers(0, 2**32))
def test_boxes_decide_and_outlines_admit(seed: int) -> None:
    source = Source(seed, null_elements=True)
    conditions = [source.condition() for _ in range(8)]
    found = [outline(each) for each in conditions]
    for a, one in zip(conditions, found, strict=True):
        assert (one is None) is tamis.covers("false", a) or one is not None
        for b, other in zip(conditions, found, strict=True):
            if one is None or other is None:
                continue
            covers = tamis.covers(a, b)
            if covers and one.is_known and other.is_known:
                assert contains(one, other)
            if one.is_box and contains(one, other):
                assert covers
            assert (one.digest != other.digest) or (covers and tamis.covers(b, a))


def test_the_same_condition_has_one_outline() -> None:
    several = [
        ["x > 5 and s = 'a'", "s in ('a') and not x <= 5.0", "x > 5 and x > 4 and s = 'a'"],
        ["d > date '2026-01-01'", "d >= date '2026-01-02'"],
        ["x = 1 or y = 2", "y = 2.0 or x = 1"],
        ["x between 1 and 2", "x >= 1 and x <= 2", "not (x < 1 or x > 2)"],
    ]
    for texts in several:
        assert len({outline(tamis.parse(text)) for text in texts}) == 1
    assert len({outline(tamis.parse(texts[0])) for texts in several}) == len(several)


def test_what_is_no_box() -> None:
    assert outline(tamis.parse("x > 5 and x < 3")) is None
    for text in ["x in (1, 3)", "s like '%a'", "x = 1 or y = 2", "array_contains(t, 'a')", "x <> 1"]:
        found = outline(tamis.parse(text))
        assert found is not None
        assert not found.is_box
    many = " and ".join(f"(x{number} = 1 or y{number} = 2)" for number in range(8))
    found = outline(tamis.parse(many))
    assert found is not None
    assert not found.is_known
    always = outline(tamis.parse("true"))
    assert always is not None
    assert (always.attributes, always.is_box) == ((), True)
