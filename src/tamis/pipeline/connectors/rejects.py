"""Records that are no events, kept with their reason: counted, never lost, never the end of a stream.

    batch-000000000012/part-00003-00000.parquet     those of a partition of a micro-batch

A task that is run again writes the same files again.
"""

import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext

from tamis.matching.segments.files import placed

#: Where a record came from, what it was, and why it is none.
SCHEMA: Final = pa.schema({"place": pa.string(), "record": pa.string(), "reason": pa.string()})
#: What Spark calls the number of a micro-batch, for tasks; those of `foreachBatch` through Connect do not know it.
_BATCH: Final = "streaming.sql.batchId"
#: A file with the number of the batch that was begun last.
_BEGUN: Final = "begun"


class Rejects:
    """A folder of rejects, on a file system that the driver and all workers share."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def folder(self, batch: int) -> Path:
        """Return where those of a batch lie."""
        return self.path / f"batch-{batch:012}"

    def batches(self) -> set[int]:
        """Return the batches that have some."""
        return {int(each.name.removeprefix("batch-")) for each in self.path.glob("batch-*")}

    def forget(self, batch: int) -> None:
        """Remove those of a batch that is to be done from the beginning."""
        shutil.rmtree(self.folder(batch), ignore_errors=True)
        self.path.mkdir(parents=True, exist_ok=True)
        with placed(self.path / _BEGUN) as file:
            file.write(str(batch).encode())

    def begun(self) -> int | None:
        """Return the batch that was begun last."""
        try:
            return int((self.path / _BEGUN).read_bytes())
        except FileNotFoundError:
            return None

    def count(self, batch: int) -> int:
        """Return how many a batch had."""
        return sum(pq.read_metadata(file).num_rows for file in self.folder(batch).glob("*.parquet"))

    def told(self, batch: int, most: int) -> list[str]:
        """Return what some of a batch were and why, a line for each."""
        files = sorted(self.folder(batch).glob("*.parquet")) if most > 0 else []
        rows = (row for file in files for row in pq.read_table(file).slice(0, most).to_pylist())
        return [f"{row['place'] or row['record']}: {row['reason']}" for row in islice(rows, most)]

    def table(self) -> pa.Table:
        """Return all of them."""
        files = sorted(self.path.glob("batch-*/*.parquet"))
        return pa.concat_tables([pq.read_table(file) for file in files]) if files else SCHEMA.empty_table()


class Writer:
    """What a task refuses. Within a stream the batch is Spark's, or the one begun; elsewhere it is the one given."""

    def __init__(self, rejects: Rejects, batch: int = 0) -> None:
        context = TaskContext.get()
        running = context.getLocalProperty(_BATCH) if context is not None else None
        begun = rejects.begun() if not running else None
        self._folder = rejects.folder(int(running) if running else batch if begun is None else begun)
        self._partition = context.partitionId() if context is not None else 0
        self._written = 0

    def write(self, places: Sequence[str | None], records: Sequence[str | None], reasons: Sequence[str]) -> None:
        """Put some aside."""
        if not reasons:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        table = pa.table([list(places), list(records), list(reasons)], schema=SCHEMA)
        with placed(self._folder / f"part-{self._partition:05}-{self._written:05}.parquet") as file:
            pq.write_table(table, file)
        self._written += 1
