"""Which rows of a table of subscriptions count, and why the others do not."""

import re
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.language import Expression, ExpressionError, Notify, Subscription, parse_subscription
from tamis.pipeline.asked import Asked, asked_by
from tamis.pipeline.manifests import Counts

#: A refused row: what was wrong, and in which character (from 1 on) if that is known: of the condition, or, where the
#: reason says so, of the clause.
REJECTS = pa.schema(
    {
        "id": pa.string(),
        "condition": pa.string(),
        "position": pa.int32(),
        "reason": pa.string(),
        "row_version": pa.int64(),
        "notify": pa.string(),
    }
)

#: A clause in a column of its own may begin with this word, or leave it out.
_NOTIFY: Final = re.compile(r"\s*notify\b", re.IGNORECASE)


class Sorted(NamedTuple):
    """The subscriptions of a table: `ids[n]` has `texts[n]`, which says `expressions[n]`, and `clauses[n]`, if any."""

    ids: pa.Array
    texts: pa.Array
    expressions: list[Expression]
    clauses: list[Notify | None]
    owners: pa.Array
    tags: pa.Array
    #: Ids that are named, whatever for.
    named: pa.Array
    rejects: pa.Table
    counts: Counts
    asked: Asked


def sort_out(table: pa.Table) -> Sorted:
    """Sort the rows of a table with the declared columns.

    All rows of an id must be in it. Of several the one with the greatest `version` counts, where null is the least; if
    several share that, all of these are refused, for a table has no order. Then `active` counts, then the condition,
    then the clause, which stands in the condition or in its own column.
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
    kept: list[int] = []
    found: list[Subscription] = []
    texts: list[str] = []
    wanted = np.flatnonzero(newest & (ties == 1) & active)
    some = table.take(pa.array(wanted))
    given = zip(wanted.tolist(), some["condition"].to_pylist(), some["notify"].to_pylist(), strict=True)
    for row, text, clause in given:
        try:
            subscription = _read(text, clause)
        except _RefusedError as error:
            reasons[row] = error.reason, error.position
        else:
            kept.append(row)
            found.append(subscription)
            # An index takes a condition alone.
            alone = subscription.notify is None or clause is not None
            texts.append(text if alone else str(subscription.condition))
    rows = pa.array(kept, pa.int64())
    expressions = [each.condition for each in found]
    counts = Counts(
        active=len(kept),
        rejected=len(reasons),
        inactive=int((newest & (ties == 1) & ~active).sum()),
        superseded=int((known & ~newest).sum()),
    )
    named = pc.unique(ids.drop_null())
    return Sorted(
        ids.take(rows),
        pa.array(texts, pa.string()),
        expressions,
        [each.notify for each in found],
        _array(table, "owner").take(rows),
        _array(table, "tags").take(rows),
        named,
        _refused(table, reasons),
        counts,
        asked_by(expressions),
    )


class _RefusedError(Exception):
    """What is wrong with a row, and where."""

    def __init__(self, reason: str, position: int | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


def _read(text: str | None, clause: str | None) -> Subscription:
    """Return the subscription that a condition and a clause of its own column state."""
    if text is None:
        raise _RefusedError("there is no condition", None)
    try:
        subscription = parse_subscription(text)
    except ExpressionError as error:
        raise _RefusedError(error.message, error.position + 1) from None
    if clause is None:
        return subscription
    if subscription.notify is not None:
        raise _RefusedError("there is a notify clause in the condition and another one beside it", None)
    before = "true " if _NOTIFY.match(clause) else "true notify "
    try:
        return Subscription(subscription.condition, parse_subscription(before + clause).notify)
    except ExpressionError as error:
        at = max(0, error.position - len(before))
        raise _RefusedError(f"in the notify clause: {error.message}", at + 1) from None


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
            some["notify"].cast(pa.string()),
        ],
        schema=REJECTS,
    )


def _array(table: pa.Table, name: str) -> Any:
    column = table[name]
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
