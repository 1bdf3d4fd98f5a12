"""Columns that are declared in SQL, as Arrow has them."""

from typing import Final

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

_PLAIN: Final[dict[type[DataType], pa.DataType]] = {
    BinaryType: pa.binary(),
    BooleanType: pa.bool_(),
    ByteType: pa.int8(),
    DateType: pa.date32(),
    DoubleType: pa.float64(),
    FloatType: pa.float32(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    ShortType: pa.int16(),
    StringType: pa.string(),
    TimestampNTZType: pa.timestamp("us"),
    TimestampType: pa.timestamp("us", "UTC"),
}


def columns_of(schema: StructType) -> pa.Schema:
    """Return the columns of a schema; one of a type that no event has is a `ValueError`."""
    return pa.schema([pa.field(field.name, _type(field.name, field.dataType)) for field in schema.fields])


def _type(name: str, kind: DataType) -> pa.DataType:
    if type(kind) in _PLAIN:
        return _PLAIN[type(kind)]
    if isinstance(kind, DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, ArrayType):
        return pa.list_(_type(name, kind.elementType))
    if isinstance(kind, MapType):
        return pa.map_(_type(name, kind.keyType), _type(name, kind.valueType))
    if isinstance(kind, StructType):
        return pa.struct(list(columns_of(kind)))
    raise ValueError(f"column {name!r} is {kind.simpleString()}, which no event has")
