"""Conjunctions as the table that `Index.add_columns` takes: one line per comparison."""

import numpy as np
import pyarrow as pa

from tamis.lab.workloads import Conditions, Conjunctions
from tamis.lab.workloads.conjunctions import SYMBOLS, Operator
from tamis.language.names import name_of

_COMPARISONS = pa.array(SYMBOLS[: Operator.BETWEEN])


def has_columns(conditions: Conditions) -> bool:
    """Say whether conditions can be written as comparisons that must all hold: a list of values cannot."""
    return isinstance(conditions, Conjunctions) and not conditions.predicates.of(Operator.IN, Operator.NOT_IN).any()


def predicate_table(conditions: Conjunctions, first: int = 0, last: int | None = None) -> pa.Table:
    """Return the comparisons of the conjunctions from number `first` to before `last`; `row` counts from `first`."""
    offsets = conditions.offsets[first : (len(conditions) if last is None else last) + 1]
    start, end = int(offsets[0]), int(offsets[-1])
    asked = conditions.predicates.part(start, end)
    between = asked.of(Operator.BETWEEN)
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    # A strict bound is the neighbour of the closed one, as in the text of these predicates.
    bounds = np.where(asked.of(Operator.LT, Operator.LE), asked.high, asked.low)
    if bounds.dtype.kind == "i":
        bounds = bounds + asked.of(Operator.LT) - asked.of(Operator.GT)
    operators = np.where(between, Operator.GE, asked.operators)
    upper = np.full(int(between.sum()), Operator.LE)
    codes = conditions.codes[start:end]
    # As in a condition: a name that is a word of the language is quoted.
    names = pa.array([name_of(name) for name in conditions.attributes])
    values = pa.array(np.concatenate([bounds, asked.high[between]]))
    if conditions.words is not None:
        values = conditions.words.take(values)
    return pa.table(
        {
            "row": np.concatenate([rows, rows[between]]),
            "attribute": _named(np.concatenate([codes, codes[between]]), names),
            "operator": _named(np.concatenate([operators, upper]), _COMPARISONS),
            "number": pa.nulls(len(values), pa.int64()) if conditions.words is not None else values,
            "text": pa.nulls(len(values), pa.string()) if conditions.words is None else values,
        }
    )


def _named(codes: np.ndarray[tuple[int], np.dtype[np.int64]], names: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), names)
