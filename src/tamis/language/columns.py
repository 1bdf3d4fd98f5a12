"""Which rows of an Arrow batch meet a condition: the language on columns.

The answers equal `Expression.matches` on every row. Every column is read once per batch; numbers, times and
Booleans become NumPy arrays on which a cut of `ranges` is one comparison `x >= threshold`.
"""

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.language.names import parts_of
from tamis.language.normal import AllOf, AnyOf, Atom, Form
from tamis.language.ranges import Cut, Ranges, compared
from tamis.language.tree import ArrayContains, Like
from tamis.language.values import Kind
from tamis.language.valueset import Filter, ValueSet, of_kind

Mask: TypeAlias = npt.NDArray[np.bool_]

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)
_PER_UNIT = {"s": 1_000_000, "ms": 1_000, "us": 1}
_NANOSECONDS_PER_MICROSECOND = 1_000


class Columns:
    """The columns of a record batch by attribute name."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch
        self._read: dict[str, Column] = {}
        self.rows: int = batch.num_rows

    def column(self, attribute: str) -> "Column":
        """Return the column of an attribute; a missing one is all null."""
        column = self._read.get(attribute)
        if column is None:
            column = self._read[attribute] = Column(self._find(attribute))
        return column

    def _find(self, attribute: str) -> pa.Array:
        first, *rest = parts_of(attribute)
        index = self._batch.schema.get_field_index(first)
        array = self._batch.column(index) if index >= 0 else pa.nulls(self.rows)
        for part in rest:
            array = _unwrapped(array)
            if not pa.types.is_struct(array.type) or array.type.get_field_index(part) < 0:
                return pa.nulls(self.rows)
            array = pc.struct_field(array, part)
        return array

    def mask(self, form: Form) -> Mask:
        """Return for each row whether it meets a condition in the form of `normal.form`."""
        match form:
            case bool():
                return np.full(self.rows, form)
            case Atom(attribute, values):
                return self.column(attribute).mask(values)
            case AllOf(parts):
                return reduce(np.logical_and, map(self.mask, parts))
            case AnyOf(parts):
                return reduce(np.logical_or, map(self.mask, parts))


class Column:
    """One column: its kind, where it is not null, and its values in a form that compares fast."""

    def __init__(self, array: pa.Array) -> None:
        array = _unwrapped(array)
        #: Without dictionaries and the like.
        self.array = array
        #: NumPy for everything but strings and the rest.
        self.kind, self.values = _readable(array)
        self.valid: Mask = array.is_valid().to_numpy(zero_copy_only=False)
        if self.kind is Kind.NUMBER and self.values.dtype.kind == "f":
            self.valid &= ~np.isnan(self.values)

    def mask(self, values: ValueSet) -> Mask:
        """Return for each row whether its value is in a set."""
        mask: Mask
        if self.kind is Kind.OTHER:
            mask = self.valid.copy() if values.other else np.zeros_like(self.valid)
        elif self.kind is Kind.NULL:
            mask = np.zeros_like(self.valid)
        else:
            mask = self._within(values.ordered[self.kind - Kind.NUMBER]) & self.valid
        if values.null:
            mask |= ~self.valid
        for each in values.filters:
            mask &= self.passes(each)
        return mask

    def passed(self, cuts: Sequence[Cut]) -> npt.NDArray[np.intp]:
        """Return for each row how many of the sorted cuts of this column's kind its value has passed.

        Rows that are null, and kinds without an order, have passed none.
        """
        count: npt.NDArray[np.intp]
        if self.kind in (Kind.NULL, Kind.OTHER) or not cuts:
            count = np.zeros(len(self.valid), np.intp)
        elif self.kind is Kind.STRING:
            coded = self.values.dictionary_encode()
            known = [bisect_right(cuts, (text, 0)) for text in coded.dictionary.to_pylist()]
            count = np.array([*known, 0])[coded.indices.fill_null(len(known)).to_numpy()]
        else:
            count = np.searchsorted(_thresholds(cuts, self.values.dtype), self.values, side="right")
        return np.where(self.valid, count, 0)

    def _within(self, ranges: Ranges) -> Mask:
        if self.kind is Kind.STRING:
            return _strings_within(self.values, ranges)
        mask: Mask
        if len(ranges.cuts) > 2:
            mask = (self.passed(ranges.cuts) % 2 == 1) != ranges.starts_inside
            return mask
        mask = np.full(len(self.values), ranges.starts_inside)
        for limit in _thresholds(ranges.cuts, self.values.dtype):
            mask ^= self.values >= limit
        return mask

    def passes(self, each: Filter) -> Mask:
        """Return for each row whether a filter is true of its value."""
        if isinstance(each, Like) and self.kind is Kind.STRING:
            fits: Mask = _fits(self.values, each) != each.negated
            return fits & self.valid
        if isinstance(each, ArrayContains) and is_list(self.values):
            return self._contains(each)
        return np.zeros_like(self.valid)

    def _contains(self, each: ArrayContains) -> Mask:
        # What lies behind a null is flattened away, but still counted as a parent: a list in a null struct has such.
        lists = self.values.drop_null()
        elements = Column(pc.list_flatten(lists))
        rows = np.flatnonzero(self.valid)[pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)]
        found = np.zeros_like(self.valid)
        if elements.kind is each.kind:
            equal = elements.mask(of_kind(each.kind, compared("=", each.value)))
            found[rows[equal]] = True
        if not each.negated:
            return found
        unknown = np.zeros_like(self.valid)
        unknown[rows[~elements.valid] if elements.kind is each.kind else rows] = True
        return self.valid & ~found & ~unknown


def _unwrapped(array: pa.Array) -> pa.Array:
    """Return the plain array behind dictionaries, run ends, chunks, views and extension types."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _unwrapped(array.storage)
    if pa.types.is_dictionary(kind):
        return _unwrapped(array.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return _unwrapped(pc.run_end_decode(array))
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        # The cast in Arrow 26 fails on views of nulls and on slices.
        return pa.array(array.to_pylist(), pa.large_list(kind.value_type))
    return array


def is_list(array: Any) -> bool:
    """Return whether values are lists, in one of the ways in which Arrow keeps them."""
    kind = getattr(array, "type", None)
    return kind is not None and (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _readable(array: pa.Array) -> tuple[Kind, Any]:
    """Return the kind of an array and its values: NumPy for everything but strings and the rest."""
    kind = array.type
    if pa.types.is_null(kind):
        return Kind.NULL, None
    if pa.types.is_integer(kind):
        return Kind.NUMBER, array.fill_null(0).to_numpy(zero_copy_only=False)
    if pa.types.is_floating(kind):
        return Kind.NUMBER, array.cast(pa.float64()).fill_null(math.nan).to_numpy(zero_copy_only=False)
    if pa.types.is_decimal(kind):
        # By way of text, which rounds once and correctly; a direct cast may be off by one unit.
        doubles = array.cast(pa.string()).cast(pa.float64())
        return Kind.NUMBER, doubles.fill_null(math.nan).to_numpy(zero_copy_only=False)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Kind.STRING, array
    if pa.types.is_boolean(kind):
        return Kind.BOOLEAN, array.fill_null(False).to_numpy(zero_copy_only=False).view(np.uint8)
    if pa.types.is_timestamp(kind):
        return Kind.TIMESTAMP, _microseconds(array.cast(pa.int64()).fill_null(0).to_numpy(), kind.unit)
    if pa.types.is_date(kind):
        return Kind.DATE, array.cast(pa.date32()).cast(pa.int32()).fill_null(0).to_numpy()
    return Kind.OTHER, array


def _microseconds(counts: npt.NDArray[np.int64], unit: str) -> npt.NDArray[np.int64]:
    if unit == "ns":
        return counts // _NANOSECONDS_PER_MICROSECOND
    factor = _PER_UNIT[unit]
    limit = np.iinfo(np.int64).max // factor
    return np.clip(counts, -limit, limit) * factor


def _thresholds(cuts: Sequence[Cut], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return for each cut the smallest value of a type that lies beyond it; cuts beyond the type are left out."""
    return np.array([each for cut in cuts if (each := threshold(cut, dtype)) is not None], dtype)


def as_integer(value: bool | dt.date) -> int:
    """Return a time as microseconds, a date as days since 1970, and a Boolean as 0 or 1, as Arrow has them."""
    if isinstance(value, dt.datetime):
        return (value - _EPOCH) // _MICROSECOND
    return (value - _EPOCH.date()).days if isinstance(value, dt.date) else int(value)


def from_integer(kind: Kind, number: int) -> dt.date:
    """Return the time or date that `as_integer` made a number of."""
    if kind is Kind.TIMESTAMP:
        return _EPOCH + number * _MICROSECOND
    return _EPOCH.date() + dt.timedelta(days=number)


def threshold(cut: Cut, dtype: np.dtype[Any]) -> int | float | None:
    """Return the smallest value of a type that lies beyond a cut, or None if there is none."""
    value, side = cut
    if isinstance(value, dt.date):
        value = as_integer(value)
    if dtype.kind == "f":
        nearest = float(value)
        beyond = nearest > value or (nearest == value and side == 0)
        return nearest if beyond else math.nextafter(nearest, math.inf)
    limits = np.iinfo(dtype)
    least = math.ceil(value) if side == 0 else math.floor(value) + 1
    return max(least, int(limits.min)) if least <= limits.max else None


def _strings_within(array: pa.Array, ranges: Ranges) -> Mask:
    points: list[str] = []
    inside = ranges.complement() if ranges.starts_inside and len(ranges.cuts) > 1 else ranges
    mask: Mask = np.zeros(len(array), np.bool_)
    for low, low_open, high, high_open in inside.intervals():
        if low is not None and low == high:
            points.append(str(low))
            continue
        part = np.ones(len(array), np.bool_)
        if low is not None:
            part &= _numpy((pc.greater if low_open else pc.greater_equal)(array, low))
        if high is not None:
            part &= _numpy((pc.less if high_open else pc.less_equal)(array, high))
        mask |= part
    if points:
        mask |= _numpy(pc.is_in(array, pa.array(points, array.type)))
    return mask if inside is ranges else ~mask


def _fits(array: pa.Array, like: Like) -> Mask:
    pattern = like.pattern
    if pattern.is_suffix:
        return _numpy(pc.ends_with(array, pattern.suffix))
    if pattern.substring is not None:
        return _numpy(pc.match_substring(array, pattern.substring))
    return _numpy(pc.match_substring_regex(array, rf"(?s)\A(?:{pattern.regex.pattern})\z"))


def _numpy(mask: pa.Array) -> Mask:
    result: Mask = mask.fill_null(False).to_numpy(zero_copy_only=False)
    return result
