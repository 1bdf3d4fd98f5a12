"""Keys as texts, a column at a time: what tells items apart under one subscription.

A letter for the kind and the value: so `1` and `true` differ, and `1` and `1.0` do not, as in `tamis.notification`.
"""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.language import Kind
from tamis.language.columns import Column
from tamis.language.limits import MAX_INTEGER, MIN_INTEGER

#: By kind of a key: its letter, and what a table calls it.
LETTERS: Final = {
    Kind.NUMBER: ("n", "number"),
    Kind.STRING: ("s", "string"),
    Kind.BOOLEAN: ("b", "boolean"),
    Kind.TIMESTAMP: ("t", "timestamp"),
    Kind.DATE: ("d", "date"),
}
_TYPES: Final = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
    "date": pa.date32(),
}
#: Up to here all whole doubles are integers of 64 bits.
_WHOLE: Final = 2.0**63
_INTEGER: Final = r"^-?[0-9]+$"


def key_texts(column: Column) -> pa.Array:
    """Return the keys of a column, null where there is none; a column of arrays or objects is a `ValueError`."""
    if column.kind is Kind.NULL:
        return pa.nulls(len(column.valid), pa.large_string())
    if column.kind is Kind.OTHER:
        raise ValueError("arrays and objects are no keys")
    array = column.array
    if column.kind is Kind.NUMBER:
        array = _numbers(column)
    elif column.kind is Kind.TIMESTAMP:
        array = pa.array(column.values, pa.timestamp("us", "UTC"), mask=~column.valid)
    letter, nothing = (pa.scalar(each, pa.large_string()) for each in (LETTERS[column.kind][0], ""))
    return pc.binary_join_element_wise(letter, array.cast(pa.large_string()), nothing)


def _numbers(column: Column) -> pa.Array:
    """Return numbers as texts, whole ones as integers."""
    values = column.values
    if values.dtype.kind != "f":
        return pa.array(values, mask=~column.valid).cast(pa.large_string())
    whole = column.valid & (np.floor(values) == values) & (values >= -_WHOLE) & (values < _WHOLE)
    integers = pa.array(np.where(whole, values, 0).astype(np.int64)).cast(pa.large_string())
    doubles = pa.array(values, mask=~column.valid).cast(pa.large_string())
    return pc.if_else(pa.array(whole), integers, doubles)


def shown(texts: pa.Array) -> pa.Array:
    """Return keys as one reads them, without their letters."""
    return pc.utf8_slice_codeunits(texts, 1).cast(pa.string())


def kinds(texts: pa.Array) -> pa.Array:
    """Return what kinds of keys these are, by name."""
    letters = pc.utf8_slice_codeunits(texts, 0, 1)
    places = pc.index_in(letters, value_set=pa.array([letter for letter, _ in LETTERS.values()], letters.type))
    return pa.array([name for _, name in LETTERS.values()]).take(places)


def keys_of(texts: pa.Array, names: pa.Array) -> pa.Array:
    """Return the keys that texts and the names of their kinds say; without a name it is a string."""
    names = names.fill_null("string")
    found = pa.nulls(len(texts), pa.large_string())
    for name in pc.unique(names).to_pylist():
        mine = pc.equal(names, name)
        some = pc.if_else(mine, texts, None)
        if name == "number":
            whole = pc.match_substring_regex(some, _INTEGER).fill_null(False)
            # One that is too long for 64 bits is a double, as in an event.
            integers = [_integer(text) for text in pc.if_else(whole, some, None).to_pylist()]
            doubles = key_texts(Column(some.cast(pa.float64())))
            read = pc.coalesce(key_texts(Column(pa.array(integers, pa.int64()))), doubles)
        elif name in _TYPES:
            read = key_texts(Column(some.cast(_TYPES[name])))
        else:
            known = ", ".join(each for _, each in LETTERS.values())
            raise ValueError(f"there is no key_kind {name!r}; there are: {known}")
        found = pc.coalesce(found, read)
    return found


def _integer(text: str | None) -> int | None:
    number = None if text is None else int(text)
    return number if number is not None and MIN_INTEGER <= number <= MAX_INTEGER else None
