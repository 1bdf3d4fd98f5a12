"""Subscriptions from a file: a column `id` and a column `condition`."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

import tamis
from tamis.cli.tables.csv import read_csv_text
from tamis.cli.tables.jsonlines import read_jsonlines
from tamis.cli.tables.parquet import read_parquet
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import Format, Source
from tamis.cli.tables.table import Table
from tamis.language.limits import MAX_INTEGER, MAX_TEXT_BYTES, MIN_INTEGER

_BATCH_ROWS: Final = 10_000
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]{0,18})")

Id = str | int


class Subscription(msgspec.Struct, frozen=True):
    """One usable row."""

    row: int
    id: Id
    condition: tamis.Expression


def read_subscriptions(
    source: Source, rejects: Rejects, progress: Callable[[int, int | None], None]
) -> list[Subscription]:
    """Read and parse all subscriptions; the ids are all integers or all strings, each there once.

    Rejected: a row without id or condition, a condition that does not parse. Fatal, because the file is not
    what it should be: an absent column, an id that is neither integer nor string, ids of both types, an id
    that occurs twice, a condition past the size limit (most often a quote left open).
    """
    table = _open(source, rejects)
    first_row: dict[Id, int] = {}
    usable: list[Subscription] = []
    refused = rejects.count
    for row, fields in _rows(table):
        progress(row, table.total)
        id_ = fields.get("id")
        if id_ is None:
            rejects.add(source, row, "the id is missing", fields)
            continue
        _check_id(source, row, id_, first_row)
        first_row[id_] = row
        condition = _parse(source, row, fields, rejects)
        if condition is not None:
            usable.append(Subscription(row, id_, condition))
    if not usable and rejects.count > refused:
        reject = rejects.first[-1]
        raise source.bad(f"no usable subscription; for example {reject.reason}", reject.row)
    if source.format is Format.CSV and all(_looks_like_integer(str(id_)) for id_ in first_row):
        return [Subscription(each.row, int(each.id), each.condition) for each in usable]
    return usable


def _open(source: Source, rejects: Rejects) -> Table:
    if source.format is Format.CSV:
        table = read_csv_text(source, rejects)
    elif source.format is Format.JSONL:
        table = read_jsonlines(source, _BATCH_ROWS, rejects)
    else:
        table = read_parquet(source, _BATCH_ROWS)
    if table.columns is not None:
        for column in ("id", "condition"):
            if column not in table.columns:
                there = ", ".join(table.columns)
                raise source.bad(f"the column {column!r} is missing; there are {there}")
    return table


def _rows(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    for rows, events in table.batches:
        objects = events if isinstance(events, list) else events.select(["id", "condition"]).to_pylist()
        yield from zip(rows.tolist(), objects, strict=True)


def _check_id(source: Source, row: int, id_: Any, first_row: dict[Id, int]) -> None:
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        raise source.bad(f"the id {id_!r} is neither an integer nor a string", row)
    if isinstance(id_, int) and not MIN_INTEGER <= id_ <= MAX_INTEGER:
        raise source.bad(f"the id {id_} does not fit in 64 bits", row)
    if id_ in first_row:
        raise source.bad(f"the id {id_!r} is already used in row {first_row[id_]}", row)
    if first_row and isinstance(next(iter(first_row)), int) != isinstance(id_, int):
        raise source.bad(f"the id {id_!r} is of another type than the ids before; use one type", row)


def _parse(source: Source, row: int, fields: dict[str, Any], rejects: Rejects) -> tamis.Expression | None:
    text = fields.get("condition")
    if not isinstance(text, str):
        reason = "the condition is missing" if text is None else f"the condition {text!r} is not a text"
        rejects.add(source, row, reason, fields)
        return None
    if len(text.encode()) > MAX_TEXT_BYTES:
        raise source.bad(f"the condition is longer than {MAX_TEXT_BYTES:,} bytes; is a quote left open?", row)
    try:
        return tamis.parse(text)
    except tamis.ExpressionError as error:
        rejects.add(source, row, error.one_line(), fields)
        return None


def _looks_like_integer(text: str) -> bool:
    """Say whether an id in CSV is an integer: 007 is not, because 7 is another id."""
    return _INTEGER.fullmatch(text) is not None and MIN_INTEGER <= int(text) <= MAX_INTEGER
