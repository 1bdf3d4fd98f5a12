"""From a table of subscriptions to a version of an index, in parallel on the executors."""

import secrets
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from tamis.pipeline.asked import Asked, total
from tamis.pipeline.errors import StoreError
from tamis.pipeline.manifests import Counts, Manifest, Shard
from tamis.pipeline.particulars import FOLDER, asked_in, noted, particulars, table_of, write_layer
from tamis.pipeline.schema import declared
from tamis.pipeline.shards import build_shard, merge_shards
from tamis.pipeline.sorting import Sorted, sort_out
from tamis.pipeline.store import Store
from tamis.pipeline.workers import Batches, by_workers

#: Subscriptions in one shard, about: many small ones cost each event more, one huge one is built by one core alone.
SHARD_SIZE: Final = 2_000_000
#: Columns from which an index is made.
NEEDED: Final = ("id", "condition", "notify", "owner", "tags", "active", "version")

_REJECTS: Final = "rejects"
_REPORT: Final = pa.schema({"report": pa.string()})


class _Built(msgspec.Struct, frozen=True):
    """What a task says of a partition."""

    shard: Shard | None
    rejects: str | None
    counts: Counts
    asked: Asked
    notified: Asked
    particulars: str | None


def compile(  # noqa: A001 - it is one
    subscriptions: DataFrame, path: str | Path, *, tasks: int | None = None, shard_size: int = SHARD_SIZE
) -> Manifest:
    """Build an index of all subscriptions as a new version below a path, put it in use, and return its manifest.

    The path is seen by the driver and all workers. Bad rows are not fatal: `rejects` tells them. Other versions stay
    until `prune` removes them. All versions below one path have ids of one type. So many `tasks` parse and build, by
    default as many as Spark finds right; what they build is merged as long as it is not above `shard_size`.
    """
    if subscriptions.isStreaming:
        raise ValueError("these subscriptions are a stream: fold it in with writeStream.foreachBatch and update")
    if tasks is not None and tasks < 1:
        raise ValueError(f"at least one task compiles, not {tasks}")
    if shard_size < 1:
        raise ValueError(f"a shard has at least one subscription, not {shard_size}")
    table = declared(subscriptions).select(*NEEDED)
    ids = id_type(table)
    store = Store(path)
    check_ids(store, ids)
    with store.building() as folder:
        (folder / _REJECTS).mkdir()
        (folder / FOLDER).mkdir()
        # All rows of an id meet in one task, which therefore can tell which of them counts.
        together = table.repartition("id") if tasks is None else table.repartition(tasks, "id")
        build = by_workers(
            _built_in(str(folder), str(store.path), base_of(store)), f"compile subscriptions into {store.path}"
        )
        built = _reports(together.mapInArrow(build, "report string"), _Built)
        shards = [each.shard for each in built if each.shard is not None]
        _check_there(folder, shards)
        shards = _merged(subscriptions, folder, shards, shard_size)
        rejects = [each.rejects for each in built if each.rejects is not None]
        files = [each.particulars for each in built if each.particulars is not None]
        _remove_others(folder, {*(shard.folder for shard in shards), *rejects, *files})
        with store.writing():
            check_ids(store, ids)
            return store.publish(
                folder,
                ids=ids,
                shards=shards,
                counts=sum((each.counts for each in built), Counts()),
                asked=total(each.asked for each in built),
                rejects=rejects,
                notified=total(each.notified for each in built),
                particulars=[files] if files else [],
            )


def id_type(table: DataFrame) -> str:
    """Return what the ids of a declared table are."""
    return "long" if isinstance(table.schema["id"].dataType, LongType) else "string"


def check_ids(store: Store, ids: str) -> None:
    """Refuse ids of another type than those that are there: whoever reads them relies on it."""
    try:
        there = store.manifest().ids
    except (FileNotFoundError, StoreError):
        return
    if there != ids:
        raise ValueError(f"the ids at {store.path} are of type {there}, not {ids}: compile them to another path")


def base_of(store: Store) -> int | None:
    """Return the version in use, if it can be compared with: clauses that are as they were there go on."""
    try:
        manifest = store.manifest()
    except (FileNotFoundError, StoreError):
        return None
    return manifest.version if manifest.particulars is not None else None


def write_rejects(folder: Path, found: Sorted) -> str | None:
    """Write the refused rows of a table, if there are any, and return the name of the file."""
    if not found.rejects.num_rows:
        return None
    file = f"{_REJECTS}/part-{secrets.token_hex(8)}.parquet"
    pq.write_table(found.rejects, folder / file)
    return file


def _built_in(folder: str, path: str, base: int | None) -> Callable[[Batches], Batches]:
    def build(batches: Batches) -> Batches:
        given = list(batches)
        if not given:
            return
        found = sort_out(pa.Table.from_batches(given))
        shard = build_shard(Path(folder), found) if len(found.ids) else None
        rejects = write_rejects(Path(folder), found)
        before = None if base is None else particulars(path, base)
        beside = noted(table_of(found.ids, found.clauses, found.owners, found.tags, before))
        written = write_layer(Path(folder), beside)
        yield _reported(_Built(shard, rejects, found.counts, found.asked, asked_in(beside), written))

    return build


def _merged(subscriptions: DataFrame, folder: Path, shards: list[Shard], size: int) -> list[Shard]:
    """Merge shards into as few as the size allows, each group in a task of its own."""
    groups: list[list[Shard]] = []
    room = 0
    for shard in sorted(shards, key=lambda each: each.subscriptions, reverse=True):
        if shard.subscriptions > room:
            groups.append([])
            room = max(size, shard.subscriptions)
        groups[-1].append(shard)
        room -= shard.subscriptions
    several = [[shard.folder for shard in group] for group in groups if len(group) > 1]
    done = [group[0] for group in groups if len(group) == 1]
    if not several:
        return done
    tasks = subscriptions.sparkSession.range(0, len(several), 1, len(several))
    merge = by_workers(_merged_in(str(folder), several), f"merge {sum(map(len, several))} parts into {len(several)}")
    return [*done, *_reports(tasks.mapInArrow(merge, "report string"), Shard)]


def _merged_in(folder: str, groups: Sequence[Sequence[str]]) -> Callable[[Batches], Batches]:
    def merge(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _reported(merge_shards(Path(folder), groups[number]))

    return merge


def _reported(report: msgspec.Struct) -> pa.RecordBatch:
    return pa.record_batch([pa.array([msgspec.json.encode(report).decode()])], schema=_REPORT)


def _reports(frame: DataFrame, kind: Any) -> list[Any]:
    return [msgspec.json.decode(row[0], type=kind) for row in frame.collect()]


def _check_there(folder: Path, shards: Iterable[Shard]) -> None:
    for shard in shards:
        if not (folder / shard.folder).is_dir():
            raise StoreError(
                f"a worker wrote {folder / shard.folder}, but it is not there: the path must be on a file system that "
                "the driver and all workers share"
            )


def _remove_others(folder: Path, kept: set[str]) -> None:
    """Remove what tasks left that were run again, or whose shards were merged."""
    for each in folder.glob("shard-*"):
        if each.name not in kept:
            shutil.rmtree(each)
    for name in (_REJECTS, FOLDER):
        for each in (folder / name).iterdir():
            if f"{name}/{each.name}" not in kept:
                each.unlink()
