"""Parquet, read page by page."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.cli.errors import one_line
from tamis.cli.tables.source import Source
from tamis.cli.tables.table import Batch, Table, check_columns

#: Bytes read ahead in each column.
READ_BYTES: Final = 2**20


def read_parquet(source: Source, batch_rows: int) -> Table:
    """Open a Parquet file; a damaged one raises `InputError`, at once or when the damage is reached."""
    if source.is_stdin:
        raise source.bad("Parquet is read from its end and needs a file; pipe CSV or JSON lines")
    stream = source.open()
    try:
        # With pre-buffering a whole row group would lie in memory, and a file may have only one.
        file = pq.ParquetFile(stream, pre_buffer=False, buffer_size=READ_BYTES)
        columns = file.schema_arrow.names
        total = file.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        stream.close()
        raise source.bad(f"not readable as Parquet: {one_line(error)}") from None
    check_columns(source, columns)

    def batches() -> Iterator[Batch]:
        next_row = 1
        with stream, file:
            try:
                for batch in file.iter_batches(batch_size=batch_rows):
                    yield Batch(np.arange(next_row, next_row + batch.num_rows, dtype=np.int64), batch)
                    next_row += batch.num_rows
            except (pa.ArrowException, OSError) as error:
                raise source.bad(f"not readable as Parquet: {one_line(error)}", next_row) from None

    return Table(columns, total, batches())
