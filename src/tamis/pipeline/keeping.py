"""The versions of compiled subscriptions, for those who keep house."""

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tamis.matching.ranks.lists import Longs
from tamis.matching.segments.part import Part
from tamis.matching.segments.saved import open_saved
from tamis.pipeline.manifests import Manifest
from tamis.pipeline.particulars import Particulars, kept_layers
from tamis.pipeline.store import Store
from tamis.pipeline.workers import Batches, by_workers

#: Subscriptions that are listed at a time.
_LISTED: Final = 10_000

_REJECTS = "id string, condition string, position int, reason string, row_version long, notify string"


def manifest(path: str | Path, version: int | None = None) -> Manifest:
    """Return what a version says of itself, by default the one in use."""
    return Store(path).manifest(version)


def versions(path: str | Path) -> list[int]:
    """Return the numbers of all versions, oldest first."""
    return Store(path).versions()


def rejects(spark: SparkSession, path: str | Path, version: int | None = None) -> DataFrame:
    """Return the rows that were refused when a version was made.

    `position` is the character of the condition, from 1 on, at which it went wrong, or of the `notify` clause where the
    `reason` begins with it; null where another thing was wrong.
    """
    store = Store(path)
    found = store.manifest(version)
    files = [str(store.folder(found.version) / name) for name in found.rejects]
    return spark.read.schema(_REJECTS).parquet(*files) if files else spark.createDataFrame([], _REJECTS)


def subscriptions(spark: SparkSession, path: str | Path, version: int | None = None) -> DataFrame:
    """Return the subscriptions of a version as a table: `id`, `condition`, `notify`, `owner` and `tags`."""
    store = Store(path)
    found = store.manifest(version)
    layers = kept_layers(store, found)
    folder, names, ids = store.folder(found.version), [shard.folder for shard in found.shards], found.ids

    def read(batches: Batches) -> Batches:
        beside = Particulars(folder, layers, ids)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for part in open_saved(folder / names[number]).parts:
                    yield from (_listed(part, rows, beside) for rows in _pieces(np.flatnonzero(part.living(0))))

    schema = f"id {ids}, condition string, notify string, owner string, tags array<string>"
    return spark.range(0, len(names), 1, max(1, len(names))).mapInArrow(by_workers(read, f"list {store.path}"), schema)


def _pieces(rows: Longs) -> list[Longs]:
    return [rows[start : start + _LISTED] for start in range(0, len(rows), _LISTED)]


def _listed(part: Part, rows: Longs, beside: Particulars) -> pa.RecordBatch:
    """Return some subscriptions of an index with what is kept beside."""
    ids = part.ids.arrow().take(pa.array(rows))
    found = beside.rows(ids)
    said = beside.table.select(["notify", "owner", "tags"]).take(pa.array(found, mask=found < 0)).combine_chunks()
    columns = [ids if ids.type == pa.int64() else ids.cast(pa.string())]
    columns.append(pa.array([part.texts[row] or str(part.condition(row)) for row in rows.tolist()], pa.string()))
    columns += [column.chunk(0) for column in said.columns]
    return pa.RecordBatch.from_arrays(columns, names=["id", "condition", "notify", "owner", "tags"])


def use(path: str | Path, version: int) -> None:
    """Put another version in use, for example the one before."""
    store = Store(path)
    with store.writing():
        store.use(version)


def prune(path: str | Path, keep: int) -> list[str]:
    """Remove all but the newest `keep` versions and the one in use, and what dead writers left; return their names.

    A stream that must repeat a batch needs the version of that batch: keep those that may still be asked for.
    """
    return Store(path).prune(keep)
