"""Keys are equal as texts where they are equal to a gate, and can be read back."""

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.language import Kind
from tamis.language.columns import Column
from tamis.language.values import typed
from tamis.pipeline.keytexts import key_texts, keys_of, kinds, shown

KINDS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)),
    (pa.float64(), st.floats() | st.integers(-3, 3).map(float) | st.sampled_from([-0.0, 2.0**53, 2.0**63, -(2.0**63)])),
    (pa.float32(), st.floats(width=32)),
    (pa.decimal128(10, 2), st.decimals(-99, 99, places=2)),
    (pa.string(), st.sampled_from(["", "1", "true", "é", "n1"])),
    (pa.bool_(), st.booleans()),
    (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(dt.UTC))),
    (pa.date32(), st.dates()),
]


def arrays(kind: pa.DataType, values: st.SearchStrategy[Any]) -> st.SearchStrategy[pa.Array]:
    return st.lists(st.none() | values, min_size=1, max_size=6).map(lambda some: pa.array(some, kind))


columns = st.one_of(*(arrays(*each) for each in KINDS))


@given(columns, columns)
def test_equal_keys_are_equal_texts(one: pa.Array, other: pa.Array) -> None:
    keys = [typed(value) for value in [*one.to_pylist(), *other.to_pylist()]]
    texts = [*key_texts(Column(one)).to_pylist(), *key_texts(Column(other)).to_pylist()]
    assert [text is None for text in texts] == [kind is Kind.NULL for kind, _ in keys]
    for key, text in zip(keys, texts, strict=True):
        assert [each == key for each in keys] == [each == text for each in texts]


@given(columns)
def test_keys_are_read_back(array: pa.Array) -> None:
    texts = key_texts(Column(array))
    assert keys_of(shown(texts), kinds(texts)).to_pylist() == texts.to_pylist()


def test_what_is_no_key() -> None:
    with pytest.raises(ValueError, match="arrays and objects are no keys"):
        key_texts(Column(pa.array([[1]])))
    with pytest.raises(ValueError, match="no key_kind 'text'; there are: number, string"):
        keys_of(pa.array(["a"]), pa.array(["text"]))
