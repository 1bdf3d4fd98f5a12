"""The clause as structured fields."""

from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.language import Notify
from tamis.language.notify import percent_text, share


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "one of radius, relative and factor"),
        ({"radius": 1, "factor": 2}, "one of radius, relative and factor"),
        ({"may": 1}, "one of radius, relative and factor"),
        ({"radius": 0}, "radius is 0, but it must be above 0 and finite"),
        ({"radius": -1.5}, "radius is -1.5"),
        ({"radius": float("nan")}, "radius is nan"),
        ({"relative": float("inf")}, "relative is inf"),
        ({"relative": 10**400}, "must be above 0 and finite"),
        ({"factor": 1}, "factor is 1, but it must be above 1 and finite"),
        ({"radius": "2"}, "radius is '2', but it must be a number"),
        ({"radius": True}, "radius is True, but it must be a number"),
        ({"radius": np.array([1, 2])}, "must be a number"),
        ({"radius": 1, "may": 2}, "may is 2.0, but it must not be above 1.0"),
        ({"radius": 1, "may": 0}, "may is 0"),
        ({"factor": 2, "may": 1}, "may is 1, but it must be above 1"),
        ({"attribute": "", "radius": 1}, "attribute is ''"),
        ({"attribute": None, "radius": 1}, "attribute is None"),
        ({"attribute": "a b", "radius": 1}, "attribute is 'a b', which is not how conditions spell"),
        ({"attribute": "a..b", "radius": 1}, "attribute is 'a..b'"),
        ({"attribute": "``", "radius": 1}, "attribute is '``'"),
        ({"key": "in", "radius": 1}, "key is 'in'"),
    ],
)
def test_fields_that_do_not_fit_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        Notify(**{"attribute": "price", **fields})
    assert message in str(caught.value)


def test_numbers_become_doubles() -> None:
    clause = Notify("price", radius=Decimal("2"), may=np.float32(0.5))  # type: ignore[arg-type] # that is the point
    assert (type(clause.radius), type(clause.may)) == (float, float)
    assert clause == Notify("price", radius=2, may=0.5)
    assert hash(clause) == hash(Notify("price", radius=2, may=0.5))
    assert Notify("price", radius=2**53 + 1).must == 2.0**53


def test_a_may_that_says_nothing_more_is_left_out() -> None:
    assert Notify("p", relative=0.5, may=0.5, key="k").normalized() == Notify("p", relative=0.5, key="k")
    loose = Notify("p", radius=2, may=1)
    assert loose.normalized() == loose


def test_a_clause_travels_and_is_checked_where_it_arrives() -> None:
    clause = Notify("price", relative=0.05, may=0.01, key="symbol")
    sent = msgspec.json.encode(clause)
    assert msgspec.json.decode(sent, type=Notify) == clause
    with pytest.raises(msgspec.ValidationError, match="must not be above"):
        msgspec.json.decode(sent.replace(b"0.01", b"0.10"), type=Notify)


@pytest.mark.parametrize(
    ("text", "value"), [("5", 0.05), ("0.7", 0.007), (".5", 0.005), ("250", 2.5), ("1e3", 10.0), ("12.5E-1", 0.0125)]
)
def test_per_cent_are_not_rounded_twice(text: str, value: float) -> None:
    assert share(text) == value


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_every_share_has_a_text(value: float) -> None:
    text = percent_text(value)
    assert text.endswith("%")
    assert share(text[:-1]) == value
