"""Conjunctions given as columns of predicates: the way into an index for very many conditions at once."""

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.compiled import kernel
from tamis.language import Expression, IsNull, parse
from tamis.language.errors import ExpressionError
from tamis.language.limits import MAX_INTEGER
from tamis.language.values import Kind
from tamis.matching.errors import SubscriptionError
from tamis.matching.ranks.lists import Bytes, Ints, Longs
from tamis.matching.segments.cuts import (
    NO_INTEGER,
    VALUE,
    Cuts,
    Doubles,
    boundaries,
    concatenated,
    distinct,
    numeric,
)
from tamis.matching.segments.draft import ANY, Draft

OPERATORS: Final = ("=", "<>", "<", "<=", ">", ">=")
_EQUAL, _UNEQUAL, _LESS, _AT_MOST, _MORE, _AT_LEAST = range(len(OPERATORS))
#: Integers that a double holds exactly, with their neighbours.
_EXACT: Final = 2**53
#: 2**63, which is the first double that no 64-bit integer reaches.
_TOP: Final = float(2**63)


def draft_of_columns(rows: int, predicates: pa.Table | pa.RecordBatch) -> Draft:
    """Return conjunctions as a draft. What is wrong in the columns is a `SubscriptionError` that names the line."""
    if not isinstance(predicates, pa.Table | pa.RecordBatch):
        raise TypeError(f"predicates are a pyarrow Table or RecordBatch, not {type(predicates).__name__}")
    row = _rows(predicates, rows)
    names, dimension = _attributes(predicates)
    operator = _operators(predicates)
    is_text = _is_text(predicates)
    parts, low, high = _cuts(predicates, dimension, is_text)
    if not _ascends(row):
        order = np.argsort(row, kind="stable")
        row, dimension, operator = row[order], dimension[order], operator[order]
        is_text, low, high = is_text[order], low[order], high[order]
    every = np.arange(len(names), dtype=np.int32)
    kinds = [boundaries(every, kind) for kind in (Kind.NUMBER, Kind.NUMBER + 1, Kind.STRING, Kind.STRING + 1)]
    first = sum(len(part.dimension) for part in parts)
    terms, code_rows, code = _translated(row, dimension, operator, is_text, low, high, first, len(names))
    return Draft(
        list(names), concatenated([*parts, *kinds]), *terms, *_under_one(code_rows, code), np.zeros(rows, np.bool_)
    )


@kernel
def _ascends(numbers: Ints) -> bool:
    """Return whether no number is smaller than the one before it."""
    falls = 0
    for place in range(1, len(numbers)):
        falls += numbers[place] < numbers[place - 1]
    return falls == 0


@kernel
def _translated(
    row: Ints,
    dimension: Ints,
    operator: Bytes,
    is_text: npt.NDArray[np.bool_],
    low: Ints,
    high: Ints,
    first: int,
    lines: int,
) -> tuple[tuple[Ints, Ints, Ints], Ints, Ints]:
    """Return predicates as terms (rows, lows, highs), and `<>` as triples of code with the rows that they are in.

    From cut number `first` on stand, for every line: the beginnings of its numbers, their ends, and so for texts.
    """
    rows, lows, highs = np.empty(len(row), np.int32), np.empty(len(row), np.int32), np.empty(len(row), np.int32)
    code_rows = np.empty(len(row), np.int32)
    code = np.empty((3 * int((operator == _UNEQUAL).sum()), 3), np.int32)
    used, coded = 0, 0
    for line in range(len(row)):
        begin = first + (2 * lines if is_text[line] else 0) + dimension[line]
        end = begin + lines
        asks = operator[line]
        if asks == _UNEQUAL:
            code_rows[coded] = row[line]
            at = 3 * coded
            code[at, 0], code[at, 1], code[at, 2] = ANY, 3, 0
            code[at + 1, 0], code[at + 1, 1], code[at + 1, 2] = dimension[line], begin, low[line]
            code[at + 2, 0], code[at + 2, 1], code[at + 2, 2] = dimension[line], high[line], end
            coded += 1
            continue
        rows[used] = row[line]
        lows[used] = begin if asks in (_LESS, _AT_MOST) else high[line] if asks == _MORE else low[line]
        highs[used] = end if asks in (_MORE, _AT_LEAST) else low[line] if asks == _LESS else high[line]
        used += 1
    return (rows[:used], lows[:used], highs[:used]), code_rows[:coded], code


@kernel
def _under_one(rows: Ints, code: Ints) -> tuple[Ints, Ints]:
    """Put the three triples of each of several `<>` in a row under one conjunction."""
    found = np.empty((len(code) + len(rows), 3), np.int32)
    owner = np.empty(len(found), np.int32)
    used, at = 0, 0
    while at < len(rows):
        last = at
        while last < len(rows) and rows[last] == rows[at]:
            last += 1
        if last - at > 1:
            found[used, 0], found[used, 1], found[used, 2] = -1, 3 * (last - at) + 1, 0
            owner[used] = rows[at]
            used += 1
        for each in range(3 * at, 3 * last):
            found[used] = code[each]
            owner[used] = rows[at]
            used += 1
        at = last
    return owner[:used].copy(), found[:used].copy()


def _column(predicates: pa.Table | pa.RecordBatch, name: str) -> pa.Array:
    if name not in predicates.schema.names:
        raise SubscriptionError(f"the predicates have no column {name!r}, only {', '.join(predicates.schema.names)}")
    column = predicates.column(name)
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _rows(predicates: pa.Table | pa.RecordBatch, rows: int) -> Ints:
    column = _column(predicates, "row")
    if not pa.types.is_integer(column.type) or column.null_count:
        raise SubscriptionError(f"column 'row' holds integers, not {column.type} with {column.null_count} nulls")
    numbers = column.to_numpy()
    wrong = _first_outside(numbers, rows)
    if wrong < len(numbers):
        raise SubscriptionError(f"line {wrong}: there is no row {numbers[wrong]} among {rows} ids")
    found: Ints = numbers.astype(np.int32)
    return found


@kernel
def _first_outside(numbers: npt.NDArray[np.integer], size: int) -> int:
    """Return the place of the first number that is not from zero up to a size; behind the last one if all are."""
    for place in range(len(numbers)):
        if not 0 <= numbers[place] < size:
            return place
    return len(numbers)


def _coded(column: pa.Array, name: str) -> tuple[list[str], Ints]:
    """Return the different texts of a column, and for each line which it has."""
    if column.null_count:
        raise SubscriptionError(f"line {np.flatnonzero(column.is_null())[0]}: column {name!r} is null")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values = column.dictionary.to_pylist()
    if not all(isinstance(value, str) for value in values):
        raise SubscriptionError(f"column {name!r} holds texts, not {column.type.value_type}")
    places = column.indices.to_numpy(zero_copy_only=False)
    wrong = _first_outside(places, len(values))
    if wrong < len(places):
        raise SubscriptionError(f"line {wrong}: the dictionary of column {name!r} has no entry {places[wrong]}")
    # A dictionary may hold what no line has.
    occurring, numbers = _renumbered(places, len(values))
    return [values[number] for number in occurring.tolist()], numbers


@kernel
def _renumbered(numbers: npt.NDArray[np.integer], size: int) -> tuple[Ints, Ints]:
    """Return which numbers below a size occur, and for each number its place among these."""
    place = np.full(size, -1, np.int32)
    occurring = np.empty(min(size, len(numbers)), np.int32)
    found, count = np.empty(len(numbers), np.int32), 0
    for at in range(len(numbers)):
        number = numbers[at]
        if place[number] < 0:
            occurring[count] = number
            place[number] = count
            count += 1
        found[at] = place[number]
    return occurring[:count], found


def _attributes(predicates: pa.Table | pa.RecordBatch) -> tuple[list[str], Ints]:
    names, places = _coded(_column(predicates, "attribute"), "attribute")
    # One attribute may be spelled in several ways.
    known: dict[str, int] = {}
    numbers = np.zeros(len(names), np.int32)
    for number, name in enumerate(names):
        try:
            attribute = _attribute(name)
        except ExpressionError as error:
            line = np.flatnonzero(places == number)[0]
            raise SubscriptionError(f"line {line}: {name!r} is no attribute: {error.message}") from None
        numbers[number] = known.setdefault(attribute, len(known))
    return list(known), numbers[places]


@lru_cache(maxsize=65_536)
def _attribute(name: str) -> str:
    """Return the canonical name of an attribute, which is spelled as in a condition."""
    asked: Expression = parse(f"{name} is null")
    if not isinstance(asked, IsNull) or asked.negated:
        raise ExpressionError("it is a condition", name, 0)
    return asked.attribute


def _operators(predicates: pa.Table | pa.RecordBatch) -> Bytes:
    texts, places = _coded(_column(predicates, "operator"), "operator")
    for number, text in enumerate(texts):
        if text not in OPERATORS:
            line = np.flatnonzero(places == number)[0]
            raise SubscriptionError(f"line {line}: there is no operator {text!r}; there are {' '.join(OPERATORS)}")
    return np.array([OPERATORS.index(text) for text in texts], np.int8)[places]


def _is_text(predicates: pa.Table | pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """Return for each line whether it compares with a text; it must be a text or a number."""
    given = {name: np.zeros(predicates.num_rows, np.bool_) for name in ("number", "text")}
    for name in given:
        if name in predicates.schema.names:
            given[name] = _column(predicates, name).is_valid().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(given["number"] == given["text"])
    if len(wrong):
        both = "both a number and a text" if given["text"][wrong[0]] else "neither a number nor a text"
        raise SubscriptionError(f"line {wrong[0]} has {both}")
    return given["text"]


def _cuts(
    predicates: pa.Table | pa.RecordBatch, dimension: Ints, is_text: npt.NDArray[np.bool_]
) -> tuple[list[Cuts], Ints, Ints]:
    """Return the cuts before and behind the values, and for each line which they are. Equal values share theirs."""
    low, high = np.empty(len(dimension), np.int32), np.empty(len(dimension), np.int32)
    parts: list[Cuts] = [boundaries(np.zeros(0, np.int32), 0)]
    total = 0
    for name, lines in (("number", np.flatnonzero(~is_text)), ("text", np.flatnonzero(is_text))):
        if len(lines):
            column, on = _column(predicates, name), dimension
            if pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            if len(lines) < len(dimension):
                column, on = column.take(pa.array(lines)), dimension[lines]
            keys = _number_keys(column, lines) if name == "number" else _text_keys(column)
            first, group = distinct(on, keys, keys)
            cut = _number_cuts if name == "number" else _text_cuts
            parts += cut(column.take(pa.array(first)), on[first])
            _put(lines, group, total, low)
            _put(lines, group, total + len(first), high)
            total += 2 * len(first)
    return parts, low, high


@kernel
def _put(lines: Longs, numbers: Ints, first: int, found: Ints) -> None:
    """Put numbers, counted from a first one on, into lines."""
    for each in range(len(lines)):
        found[lines[each]] = first + numbers[each]


def _number_keys(column: pa.Array, lines: Longs) -> Longs:
    """Return numbers as integers that are equal if and only if the numbers are, after all were checked."""
    keys: Longs
    if pa.types.is_integer(column.type):
        if column.type == pa.uint64() and (wrong := np.flatnonzero(column.to_numpy() > MAX_INTEGER)).size:
            raise SubscriptionError(f"line {lines[wrong[0]]}: {column[wrong[0]]} does not fit in 64 bits with a sign")
        keys = column.cast(pa.int64()).to_numpy()
        return keys
    if not pa.types.is_floating(column.type):
        raise SubscriptionError(f"column 'number' holds integers or doubles, not {column.type}")
    # Zero has one sign.
    doubles = column.cast(pa.float64()).to_numpy() + 0.0
    wrong = np.flatnonzero(~np.isfinite(doubles))
    if len(wrong):
        raise SubscriptionError(f"line {lines[wrong[0]]}: {doubles[wrong[0]]} cannot be compared with")
    keys = doubles.view(np.int64)
    return keys


def _text_keys(column: pa.Array) -> Longs:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise SubscriptionError(f"column 'text' holds texts, not {column.type}")
    keys: Longs = column.dictionary_encode().indices.to_numpy().astype(np.int64)
    return keys


def _number_cuts(column: pa.Array, dimension: Ints) -> list[Cuts]:
    """Return the cuts before and behind numbers."""
    if pa.types.is_integer(column.type):
        values = column.cast(pa.int64()).to_numpy()
        return [numeric(dimension, *_beside_integers(values, behind)) for behind in (False, True)]
    doubles = column.cast(pa.float64()).to_numpy()
    return [numeric(dimension, *_beside_doubles(doubles, behind)) for behind in (False, True)]


@kernel
def _beside_integers(values: Longs, behind: bool) -> tuple[Bytes, Doubles, Longs]:
    """Return flags, doubles and integers of the cuts before or behind integers."""
    flag, real, whole = np.empty(len(values), np.int8), np.empty(len(values)), np.empty(len(values), np.int64)
    for at in range(len(values)):
        value, near = values[at], np.float64(values[at])
        # Beyond 2**53 the nearest double may lie on either side.
        up = near < _TOP and (np.int64(near) < value or (behind and np.int64(near) == value))
        real[at] = np.nextafter(near, np.inf) if up else near
        last = behind and value == MAX_INTEGER
        flag[at] = NO_INTEGER if last else VALUE
        whole[at] = value + 1 if behind and not last else value
    return flag, real, whole


@kernel
def _beside_doubles(values: Doubles, behind: bool) -> tuple[Bytes, Doubles, Longs]:
    """Return flags, doubles and integers of the cuts before or behind doubles."""
    flag, real, whole = np.empty(len(values), np.int8), np.empty(len(values)), np.empty(len(values), np.int64)
    for at in range(len(values)):
        value = values[at]
        # Behind the largest double there is only infinity. Zero has one sign.
        real[at] = np.nextafter(value, np.inf) if behind else value + 0.0
        flag[at] = NO_INTEGER if value >= _TOP else VALUE
        if value >= _TOP:
            whole[at] = MAX_INTEGER
        elif abs(value) < _EXACT:
            whole[at] = np.int64(np.floor(value) + 1 if behind else np.ceil(value))
        else:
            # From 2**53 on doubles are whole, and the next integer is no double.
            whole[at] = np.int64(max(value, -_TOP)) + (1 if behind and value >= -_TOP else 0)
    return flag, real, whole


def _text_cuts(column: pa.Array, dimension: Ints) -> list[Cuts]:
    """Return the cuts before and behind texts."""
    before = column.cast(pa.large_binary())
    behind = pc.binary_join_element_wise(before, pa.scalar(b"\0", pa.large_binary()), pa.scalar(b"", pa.large_binary()))
    found = []
    for texts in (before, behind):
        _, offset, data = texts.buffers()
        size = len(dimension)
        octets = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
        places = np.frombuffer(offset, np.int64)[texts.offset : texts.offset + size + 1]
        found.append(
            Cuts(
                dimension,
                np.full(size, Kind.STRING, np.int8),
                np.full(size, VALUE, np.int8),
                np.zeros(size),
                np.zeros(size, np.int64),
                places - places[0],
                octets[places[0] : places[-1]],
            )
        )
    return found
