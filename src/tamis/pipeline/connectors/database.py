"""Tables of a database, with the options of Spark's `jdbc`: by its driver where Spark has it, PostgreSQL also without.

Without a driver PostgreSQL is read with psycopg: `format("tamis-postgres")`, which takes those options that say what is
read: `url`, `dbtable` or `query`, `user` and `password`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from tamis.pipeline.connectors.present import MissingConnectorError, need_psycopg

if TYPE_CHECKING:
    import psycopg

FORMAT: Final = "tamis-postgres"
URL: Final = "url"
TABLE: Final = "dbtable"
QUERY: Final = "query"
#: What both ways understand.
_OPTIONS: Final = (URL, TABLE, QUERY, "user", "password")
_JDBC: Final = "jdbc:"
_POSTGRES: Final = "jdbc:postgresql:"
#: Where its driver comes from.
_PACKAGE: Final = "org.postgresql:postgresql:42.7.8"
#: What Java says that has no driver for an address, or not the one that is named.
_NO_DRIVER: Final = ("No suitable driver", "ClassNotFoundException")
#: Rows that are fetched at a time, and seconds until a server must have answered.
_ROWS: Final = 10_000
_PATIENCE: Final = 10
#: Columns by what PostgreSQL calls their types; all others are read as texts.
_TYPES: Final[dict[str, pa.DataType]] = {
    "text": pa.string(),
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "date": pa.date32(),
    "timestamptz": pa.timestamp("us", "UTC"),
}


def read_database(spark: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """Return a table, or the rows of a query, with the options of Spark's `jdbc`.

    Spark reads it if it has a driver for the address. Otherwise PostgreSQL is read with psycopg; where that is not
    there either, or for another database, a `MissingConnectorError` says what to install.
    """
    url = options.get(URL, "")
    if not url.startswith(_JDBC):
        raise ValueError(f"the option {URL!r} is an address such as jdbc:postgresql://host/database, not {url!r}")
    if (TABLE in options) == (QUERY in options):
        raise ValueError(f"one of the options {TABLE!r} and {QUERY!r} says what is read")
    try:
        table = spark.read.format("jdbc").options(**options).load()
        # Asking for the columns makes Spark look, also where the session is remote.
        table.schema  # noqa: B018
        return table
    except (PySparkException, Py4JError) as error:
        if not any(text in str(error) for text in _NO_DRIVER):
            raise
    others = [name for name in options if name not in _OPTIONS]
    if not url.startswith(_POSTGRES) or others or find_spec("psycopg") is None:
        raise MissingConnectorError(_missing(url, others))
    spark.dataSource.register(PostgresSource)
    return spark.read.format(FORMAT).options(**options).load()


def _missing(url: str, others: list[str]) -> str:
    """Say what to install."""
    fetch = 'name its file in [spark.conf] "spark.jars", or let Spark fetch it with "spark.jars.packages"'
    if not url.startswith(_POSTGRES):
        return f"Spark has no JDBC driver for {url.partition('//')[0]}: {fetch}"
    without = f"; without one, {others[0]!r} is no option" if others else "; or pip install 'tamis[postgres]'"
    return f'Spark has no JDBC driver for PostgreSQL: {fetch} = "{_PACKAGE}"{without}'


class PostgresSource(DataSource):  # type: ignore[misc]  # it publishes no types
    """`format("tamis-postgres")`, to read a table, after `spark.dataSource.register(PostgresSource)`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return from_arrow_schema(_columns(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - the columns are asked for again
        return _Reader(self.options)


class _Reader(DataSourceReader):  # type: ignore[misc]
    """Reads all rows in one task, as Spark does unless it is told how to cut them up."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        self._columns = _columns(options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:  # noqa: ARG002 - there is one
        from psycopg import sql

        # As texts what has no type of its own.
        chosen = [
            sql.SQL("{}::text" + "[]" * pa.types.is_list(field.type)).format(sql.Identifier(field.name))
            if pa.string() in (field.type, getattr(field.type, "value_type", None))
            else sql.Identifier(field.name)
            for field in self._columns
        ]
        with _connected(self._options) as connection, connection.cursor(name="tamis") as cursor:
            cursor.execute(sql.SQL("select {} from {}").format(sql.SQL(", ").join(chosen), _rows(self._options)))
            while rows := cursor.fetchmany(_ROWS):
                columns = zip(*rows, strict=True)
                arrays = [pa.array(each, field.type) for each, field in zip(columns, self._columns, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=self._columns)


def _columns(options: Mapping[str, str]) -> pa.Schema:
    """Return the columns of what is read."""
    from psycopg import sql

    with _connected(options) as connection:
        cursor = connection.execute(sql.SQL("select * from {} limit 0").format(_rows(options)))
        fields = []
        for column in cursor.description or ():
            known = connection.adapters.types.get(column.type_code)
            kind = _TYPES.get(known.name if known is not None else "", pa.string())
            is_array = known is not None and known.array_oid == column.type_code
            fields.append(pa.field(column.name, pa.list_(kind) if is_array else kind))
        return pa.schema(fields)


def _rows(options: Mapping[str, str]) -> Any:
    """Return what rows are read from, as it is given: whoever sets options reads what he likes anyway."""
    from psycopg import sql

    return sql.SQL(options[TABLE] if TABLE in options else f"({options[QUERY]}) as given")


@contextmanager
def _connected(options: Mapping[str, str]) -> Iterator["psycopg.Connection[Any]"]:
    """Give a connection; what goes wrong is a `ValueError`."""
    need_psycopg()
    import psycopg

    rest = options[URL].removeprefix(_POSTGRES)
    address = f"postgresql:{rest if rest.startswith('//') else f'///{rest}'}"
    login = {name: options[name] for name in ("user", "password") if name in options}
    try:
        with psycopg.connect(address, connect_timeout=_PATIENCE, **login) as connection:  # type: ignore[arg-type]
            yield connection
    except psycopg.Error as error:
        raise ValueError(f"PostgreSQL: {str(error).strip().splitlines()[0]}") from None
