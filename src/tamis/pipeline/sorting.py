"""Which rows of a table of subscriptions count, and why the others do not."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.language import Expression, ExpressionError, parse
from tamis.pipeline.asked import Asked, asked_by
from tamis.pipeline.manifest import Counts

#: A refused row: what was wrong, and in which character of the condition (from 1 on) if that is known.
REJECTS = pa.schema(
    {
        "id": pa.string(),
        "condition": pa.string(),
        "position": pa.int32(),
        "reason": pa.string(),
        "row_version": pa.int64(),
    }
)


class Sorted(NamedTuple):
    """The subscriptions of a table: `ids[n]` has `texts[n]`, which says `expressions[n]`."""

    ids: pa.Array
    texts: pa.Array
    expressions: list[Expression]
    #: Ids that are named, whatever for.
    named: pa.Array
    rejects: pa.Table
    counts: Counts
    asked: Asked


def sort_out(table: pa.Table) -> Sorted:
    """Sort the rows of a table with the declared columns.

    All rows of an id must be in it. Of several the one with the greatest `version` counts, where null is the least; if
    several share that, all of these are refused, for a table has no order. Then `active` counts, then the condition.
    """
    table = table.combine_chunks()
    ids = _array(table, "id")
    known = ids.is_valid().to_numpy(zero_copy_only=False)
    versions = _array(table, "version").fill_null(np.iinfo(np.int64).min).to_numpy()
    newest, ties = _newest(ids, known, versions)
    active = _array(table, "active").fill_null(True).to_numpy(zero_copy_only=False)
    reasons: dict[int, tuple[str, int | None]] = {int(row): ("there is no id", None) for row in np.flatnonzero(~known)}
    for row in np.flatnonzero(newest & (ties > 1)).tolist():
        reasons[row] = f"{ties[row]} rows have this id and the same version", None
    kept, expressions = [], []
    texts = _array(table, "condition")
    wanted = np.flatnonzero(newest & (ties == 1) & active)
    for row, text in zip(wanted.tolist(), texts.take(pa.array(wanted)).to_pylist(), strict=True):
        try:
            expressions.append(parse(text) if text is not None else _missing())
            kept.append(row)
        except ExpressionError as error:
            reasons[row] = error.message, error.position + 1 if text is not None else None
    rows = pa.array(kept, pa.int64())
    counts = Counts(
        active=len(kept),
        rejected=len(reasons),
        inactive=int((newest & (ties == 1) & ~active).sum()),
        superseded=int((known & ~newest).sum()),
    )
    named = pc.unique(ids.drop_null())
    return Sorted(
        ids.take(rows), texts.take(rows), expressions, named, _refused(table, reasons), counts, asked_by(expressions)
    )


def _missing() -> Expression:
    raise ExpressionError("there is no condition", "", 0)


def _newest(
    ids: pa.Array, known: npt.NDArray[np.bool_], versions: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Return for each row whether no row of its id has a greater version, and how many share its id and version."""
    codes = ids.dictionary_encode().indices.fill_null(0).to_numpy().astype(np.int64)
    greatest = np.full(int(codes.max(initial=-1)) + 1, np.iinfo(np.int64).min)
    np.maximum.at(greatest, codes[known], versions[known])
    newest = known & (versions == greatest[codes]) if len(codes) else known
    ties = np.bincount(codes[newest], minlength=len(greatest))
    return newest, np.where(newest, ties[codes], 0) if len(codes) else np.zeros(0, np.int64)


def _refused(table: pa.Table, reasons: dict[int, tuple[str, int | None]]) -> pa.Table:
    rows = sorted(reasons)
    some = table.take(pa.array(rows, pa.int64()))
    return pa.table(
        [
            some["id"].cast(pa.string()),
            some["condition"].cast(pa.string()),
            pa.array([reasons[row][1] for row in rows], pa.int32()),
            pa.array([reasons[row][0] for row in rows], pa.string()),
            some["version"],
        ],
        schema=REJECTS,
    )


def _array(table: pa.Table, name: str) -> Any:
    column = table[name]
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
