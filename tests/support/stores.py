"""Compiled subscriptions without Spark: what the tasks of `compile` do, done here."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from tamis.pipeline.asked import total
from tamis.pipeline.compiling import base_of
from tamis.pipeline.manifests import Counts, Manifest
from tamis.pipeline.particulars import FOLDER, asked_in, noted, particulars, write_layer
from tamis.pipeline.particulars import table_of as rows_of
from tamis.pipeline.shards import build_shard
from tamis.pipeline.sorting import sort_out
from tamis.pipeline.store import Store


def table_of(conditions: Mapping[str, str] | Mapping[int, str]) -> pa.Table:
    """Return subscriptions with the columns that an index is made from."""
    ids = list(conditions)
    kind = pa.int64() if ids and isinstance(ids[0], int) else pa.string()
    return pa.table(
        {
            "id": pa.array(ids, kind),
            "condition": pa.array(list(conditions.values()), pa.string()),
            "notify": pa.nulls(len(ids), pa.string()),
            "owner": pa.nulls(len(ids), pa.string()),
            "tags": pa.nulls(len(ids), pa.list_(pa.string())),
            "active": pa.nulls(len(ids), pa.bool_()),
            "version": pa.nulls(len(ids), pa.int64()),
        }
    )


def stored(path: Path, shards: Sequence[Mapping[str, str] | Mapping[int, str]]) -> Manifest:
    """Publish a version with these shards."""
    store = Store(path)
    found = [sort_out(table_of(shard)) for shard in shards]
    base = base_of(store)
    before = None if base is None else particulars(path, base)
    with store.building() as folder, store.writing():
        (folder / FOLDER).mkdir()
        stated = [noted(rows_of(each.ids, each.clauses, each.owners, each.tags, before)) for each in found]
        files = [write_layer(folder, each) for each in stated]
        return store.publish(
            folder,
            ids="long" if found and pa.types.is_integer(found[0].ids.type) else "string",
            shards=[build_shard(folder, each) for each in found],
            counts=sum((each.counts for each in found), Counts()),
            asked=total(each.asked for each in found),
            rejects=[],
            notified=total(map(asked_in, stated)),
            particulars=[[name for name in files if name is not None]],
        )
