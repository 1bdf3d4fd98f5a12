"""Subscriptions as a table: which columns it has, and how tables from elsewhere become one; and columns of answers."""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    ByteType,
    CharType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)

#: What the columns are, beside the `id`. Only `condition` must be there.
COLUMNS: Final[dict[str, DataType]] = {
    "condition": StringType(),
    "notify": StringType(),
    "owner": StringType(),
    "tags": ArrayType(StringType()),
    "active": BooleanType(),
    "version": LongType(),
}
#: Columns of answers, which are added to those of the events.
IDS: Final = "subscription_ids"
ID: Final = "subscription_id"
VERSION: Final = "subscription_version"

_INTEGERS: Final = (ByteType, ShortType, IntegerType, LongType)
_TEXTS: Final = (StringType, CharType, VarcharType)
#: How `tags` are written in files that know no arrays.
_SEPARATOR: Final = r"\s*,\s*"


def subscription_schema(id_type: DataType | None = None, flat: bool = False) -> StructType:
    """Return the schema of subscriptions: for `spark.read.schema(…)`, with ids as strings unless told otherwise.

    `flat` is for files that know no arrays, such as CSV: there `tags` are one text with commas.
    """
    columns = COLUMNS | ({"tags": StringType()} if flat else {})
    return StructType([StructField("id", id_type or StringType()), *(StructField(*each) for each in columns.items())])


def declared(subscriptions: DataFrame) -> DataFrame:
    """Return a table with exactly the declared columns; what is wrong with it is a `ValueError` that names the column.

    `id` is a string or an integer. Columns that are missing become null, those that are not declared are left out.
    `tags` may be one text with commas. A row whose `active` is null is active.
    """
    given = {field.name: field.dataType for field in subscriptions.schema.fields}
    for name in ("id", "condition"):
        if name not in given:
            raise ValueError(f"subscriptions need a column {name!r}; there are: {', '.join(given) or 'none'}")
    if not isinstance(given["id"], (*_INTEGERS, *_TEXTS)):
        raise ValueError(f"column 'id' is a string or an integer, not {given['id'].simpleString()}")
    id_type = StringType() if isinstance(given["id"], _TEXTS) else LongType()
    columns = [F.col("id").cast(id_type).alias("id")]
    for name, kind in COLUMNS.items():
        column = F.lit(None).cast(kind) if name not in given else _converted(name, given[name], kind)
        columns.append(column.alias(name))
    return subscriptions.select(*columns)


def _converted(name: str, given: DataType, wanted: DataType) -> Column:
    column = F.col(name)
    if given == wanted or (isinstance(wanted, StringType) and isinstance(given, _TEXTS)):
        return column.cast(wanted)
    if name == "tags" and isinstance(given, _TEXTS):
        return F.split(F.trim(column), _SEPARATOR)
    if name == "version" and isinstance(given, _INTEGERS):
        return column.cast(wanted)
    raise ValueError(f"column {name!r} is {wanted.simpleString()}, not {given.simpleString()}")
