"""Events from a file, whatever its format."""

from tamis.cli.tables.csv import read_csv
from tamis.cli.tables.jsonlines import read_jsonlines
from tamis.cli.tables.parquet import read_parquet
from tamis.cli.tables.rejects import Rejects
from tamis.cli.tables.source import Format, Source
from tamis.cli.tables.table import Table


def read_events(source: Source, batch_rows: int, rejects: Rejects) -> Table:
    """Open a table of events; it is read batch by batch, never as a whole."""
    if source.format is Format.CSV:
        return read_csv(source, batch_rows, rejects)
    if source.format is Format.JSONL:
        return read_jsonlines(source, batch_rows, rejects)
    return read_parquet(source, batch_rows)
