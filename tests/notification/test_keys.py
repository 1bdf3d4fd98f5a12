"""Keys as bytes."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.language import Kind
from tamis.language.values import typed
from tamis.notification.keys import MISSING, key_bytes, key_of

INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))
ODD = ["", "it's", "\ud800", 0, -1, 2**70, -(2**64), 0xDEAD, 0.5, -0.0, float("inf"), float("-inf"), 5e-324, 1e300]
ODD += [True, False, None, dt.date(2026, 1, 31), dt.datetime(1, 1, 1, 0, 0, 0, 5, tzinfo=INDIA)]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_bytes_give_back_an_equal_key(value: Any) -> None:
    key = typed(value)
    assert key_of(key[0], key_bytes(key)) == key


@given(st.integers() | st.floats(allow_nan=False) | st.text() | st.datetimes() | st.dates())
def test_all_bytes_give_back_an_equal_key(value: Any) -> None:
    key = typed(value)
    assert key_of(key[0], key_bytes(key)) == key


def test_kinds_tell_keys_apart() -> None:
    assert typed(1) == typed(1.0) != typed(True)
    assert typed(None) == typed(float("nan")) == MISSING
    assert MISSING == (Kind.NULL, None)
