"""A few changes of subscriptions as a new version: what did not change is shared with the version before.

The files of an index never change, so a version begins as links to those of its base; a change adds a small part, and
notes which rows are gone. `tamis.Index` merges parts when they become many.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from tamis.language import Expression
from tamis.matching import Index
from tamis.pipeline.asked import asked_by, total
from tamis.pipeline.compiling import NEEDED, check_ids, id_type, write_rejects
from tamis.pipeline.manifests import Manifest
from tamis.pipeline.particulars import FOLDER, Particulars, add_layer, asked_in, kept_layers, particulars, table_of
from tamis.pipeline.schema import declared
from tamis.pipeline.shards import build_shard, described
from tamis.pipeline.sorting import Sorted, sort_out
from tamis.pipeline.store import Store, linked


def update(changes: DataFrame, path: str | Path) -> Manifest:
    """Fold changes into the version in use, as a new version, and return its manifest.

    Each row is a subscription as it is from now on: new, with another condition, or gone because it is not `active`.
    The outcome is that of compiling the whole table with these rows in the places of their ids: so a row with a bad
    condition is a reject, and the condition that it replaces is gone. `counts` and rejects are those of the changes.

    The changes pass through the driver: for many at once, `compile` is the way. As a stream, changes are folded in by
    `writeStream.foreachBatch(lambda changes, number: update(changes, path))`; repeating a batch does no harm.
    """
    if changes.isStreaming:
        raise ValueError("these changes are a stream: call update in writeStream.foreachBatch")
    table = declared(changes).select(*NEEDED)
    ids = id_type(table)
    store = Store(path)
    found = sort_out(table.toArrow())
    with store.writing():
        base = store.manifest()
        check_ids(store, ids)
        layers = kept_layers(store, base)
        before = particulars(store.path, base.version)
        stated = _beside(found, before)
        with store.building() as folder:
            for each in base.shards:
                linked(store.folder(base.version) / each.folder, folder / each.folder)
            if layers:
                linked(store.folder(base.version) / FOLDER, folder / FOLDER)
            else:
                (folder / FOLDER).mkdir()
            gone = _changed(folder, base, found)
            (folder / "rejects").mkdir()
            rejects = write_rejects(folder, found)
            shards = [described(folder, each.folder) for each in base.shards]
            if not shards and len(found.ids):
                shards = [build_shard(folder, found)]
            return store.publish(
                folder,
                ids=ids,
                shards=shards,
                counts=found.counts,
                asked=total([base.asked, found.asked], asked_by(gone)),
                rejects=[rejects] if rejects is not None else [],
                notified=total([base.notified, asked_in(stated)], asked_in(before.rows_of(found.named))),
                particulars=add_layer(folder, layers, stated),
                base=base.version,
            )


def _changed(folder: Path, base: Manifest, found: Sorted) -> list[Expression]:
    """Change the indexes in a folder, and return the conditions that are gone. New ones go to the smallest index."""
    smallest = min(base.shards, key=lambda each: each.subscriptions, default=None)
    gone: list[Expression] = []
    named = found.named.to_pylist()
    for each in base.shards:
        index = Index.open(folder / each.folder)
        known = [id for id in named if id in index]
        gone += [index.condition(id) for id in known]
        index.remove_many(known)
        if each is smallest and len(found.ids):
            index.add_many(found.ids.to_pylist(), found.texts.to_pylist())
        if known or each is smallest:
            index.save(folder / each.folder)
    return gone


def _beside(found: Sorted, before: Particulars) -> pa.Table:
    """Return what is said of all ids that are named: of those that are gone, nothing."""
    stated = table_of(found.ids, found.clauses, found.owners, found.tags, before)
    gone = found.named.filter(pc.invert(pc.is_in(found.named, value_set=found.ids)))
    nothing = pa.nulls(len(gone), pa.null())
    silent = table_of(gone, [None] * len(gone), nothing, nothing, None)
    return pa.concat_tables([stated, silent])
