"""A workload as Parquet files, written by this process."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from tamis.lab.files import replacing
from tamis.lab.workloads.blocks import SUBSCRIPTIONS, blocks, event_block, event_schema, subscription_block
from tamis.lab.workloads.workload import WorkloadSpec

#: The two tables of a workload, below its folder.
SUBSCRIPTION_FILE: Final = "subscriptions.parquet"
EVENT_FILE: Final = "events.parquet"


def write_workload(
    spec: WorkloadSpec, seed: int, folder: Path, progress: Callable[[int, int], None]
) -> tuple[Path, Path]:
    """Write subscriptions and events into a folder, made if absent, a block at a time; return both paths."""
    asked, told = blocks(spec.subscriptions), blocks(spec.events)
    paths = folder / SUBSCRIPTION_FILE, folder / EVENT_FILE
    schema = event_schema(spec, seed)
    folder.mkdir(parents=True, exist_ok=True)
    done = 0

    def write(path: Path, kind: pa.Schema, count: int, block: Callable[..., Iterator[pa.RecordBatch]]) -> None:
        nonlocal done
        with replacing(path) as temporary, pq.ParquetWriter(temporary, kind) as writer:
            for number in range(count):
                progress(done, asked + told)
                writer.write_table(pa.Table.from_batches(block(spec, seed, number)))
                done += 1

    write(paths[0], SUBSCRIPTIONS, asked, subscription_block)
    write(paths[1], schema, told, event_block)
    progress(done, done)
    return paths
