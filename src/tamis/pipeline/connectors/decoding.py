"""Texts become columns, by a declared schema; what is no event goes to the rejects."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from tamis.pipeline.connectors.columns import columns_of
from tamis.pipeline.connectors.rejects import Rejects, Writer
from tamis.pipeline.connectors.shape import shape_of
from tamis.pipeline.workers import Batches, by_workers

#: Columns of texts that are to be decoded: the JSON, and where it stood.
VALUE: Final = "value"
PLACE: Final = "place"
#: What Spark's CSV reader calls a line that does not fit.
CORRUPT: Final = "_corrupt_record"
_NO_FIT: Final = "the line does not fit the declared columns: too many or too few fields, or one of another type"


def decoded(texts: DataFrame, schema: StructType, rejects: str | Path) -> DataFrame:
    """Read the JSON objects in the column `value` as columns of a schema; others than `value` and `place` are kept.

    A text that is no object, or has a value of another type, is put aside in the folder `rejects` with its `place`.
    """
    others = [field for field in texts.schema.fields if field.name not in (VALUE, PLACE)]
    for field in others:
        if field.name in schema.names:
            raise ValueError(f"the events have a column {field.name!r}, which the source adds: rename it")
    columns = columns_of(schema)
    folder = str(rejects)

    def decode(batches: Batches) -> Batches:
        shape, writer = shape_of(columns), Writer(Rejects(folder))
        for batch in batches:
            texts = batch.column(VALUE).cast(pa.binary()).to_pylist()
            found = shape.of_json(texts)
            if found.bad:
                places = batch.column(PLACE)
                writer.write(
                    [places[bad.number].as_py() for bad in found.bad],
                    [_shown(texts[bad.number]) for bad in found.bad],
                    [bad.reason for bad in found.bad],
                )
            kept = [batch.column(field.name) for field in others]
            if found.bad:
                chosen = pa.array(found.numbers, pa.int64())
                kept = [column.take(chosen) for column in kept]
            yield numbered([*kept, *found.rows.columns])

    return mapped(texts, decode, "decode events", [*others, *schema.fields])


def set_aside(lines: DataFrame, rejects: str | Path) -> DataFrame:
    """Put the lines aside that Spark's reader found corrupt, and keep the others without that column."""
    fields = [field for field in lines.schema.fields if field.name not in (CORRUPT, PLACE)]
    folder = str(rejects)

    def sort_out(batches: Batches) -> Batches:
        writer = Writer(Rejects(folder))
        for batch in batches:
            corrupt = batch.column(CORRUPT)
            if corrupt.null_count < len(corrupt):
                bad = batch.filter(pc.is_valid(corrupt))
                records = bad.column(CORRUPT).to_pylist()
                writer.write(bad.column(PLACE).to_pylist(), records, [_NO_FIT] * len(records))
                batch = batch.filter(pc.is_null(corrupt))
            yield numbered([batch.column(field.name) for field in fields])

    return mapped(lines, sort_out, "set bad lines aside", fields)


def mapped(frame: DataFrame, function: Callable[[Batches], Batches], name: str, fields: list[StructField]) -> DataFrame:
    """Let a function, named for people, make other columns of a table, which it gives in order, as `numbered`."""
    # Names with dots, or that differ in case alone, mean something else to Spark: columns go by number.
    types = StructType([StructField(f"c{at}", field.dataType) for at, field in enumerate(fields)])
    return frame.mapInArrow(by_workers(function, name), types).toDF(*(field.name for field in fields))


def numbered(columns: list[pa.Array]) -> pa.RecordBatch:
    """Return columns as a batch, named by their numbers."""
    return pa.RecordBatch.from_arrays(columns, names=[f"c{at}" for at in range(len(columns))])


def _shown(text: bytes | None) -> str | None:
    return None if text is None else text.decode("utf-8", errors="backslashreplace")
