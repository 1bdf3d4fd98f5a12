"""The subscriptions that a running broker keeps, as a table, by way of its HTTP: those of the token that asks."""

from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from tamis.pipeline.connectors import broker_options as named
from tamis.tls import client_context, explained

#: Seconds that an answer may take.
PATIENCE: Final = 30.0
#: A subscription: `name` is what people call it.
COLUMNS: Final = pa.schema({"id": pa.string(), "condition": pa.string(), "name": pa.string()})
_PATH: Final = "/subscriptions"


class _Shown(msgspec.Struct, frozen=True):
    id: str
    condition: str
    name: str = ""


class _Listed(msgspec.Struct, frozen=True):
    subscriptions: list[_Shown]


class _Problem(msgspec.Struct, frozen=True):
    detail: str
    code: str = ""


class SubscriptionsReader(DataSourceReader):  # type: ignore[misc]  # it publishes no types
    """Asks once, in one task."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:  # noqa: ARG002 - there is one
        found = listed(self._options)
        rows = {
            "id": [each.id for each in found],
            "condition": [each.condition for each in found],
            "name": [each.name or None for each in found],
        }
        yield pa.RecordBatch.from_pydict(rows, schema=COLUMNS)


def is_http(options: Mapping[str, str]) -> bool:
    """Say whether an address is that of a broker's HTTP, where its subscriptions are; elsewhere its events are."""
    return options.get(named.URL, "").startswith(("http://", "https://"))


def listed(options: Mapping[str, str]) -> list[_Shown]:
    """Return the subscriptions of a token; a broker that does not answer, or refuses, is a `ValueError`."""
    url = options[named.URL]
    address = urlsplit(url)
    over_tls = address.scheme == "https"
    try:
        if over_tls:
            context = client_context(options.get(named.CA))
            connection: HTTPConnection = HTTPSConnection(address.netloc, timeout=PATIENCE, context=context)
        else:
            connection = HTTPConnection(address.netloc, timeout=PATIENCE)
        headers = {"authorization": f"Bearer {options[named.TOKEN]}"} if named.TOKEN in options else {}
        try:
            connection.request("GET", address.path.rstrip("/") + _PATH, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
    except (OSError, HTTPException) as error:
        raise ValueError(f"no broker at {url}: {explained(error, over_tls)}") from None
    try:
        if answer.status == 200:
            return msgspec.json.decode(body, type=_Listed).subscriptions
        problem = msgspec.json.decode(body, type=_Problem)
    except msgspec.MsgspecError:
        raise ValueError(f"{url} is no broker's HTTP: it answers {answer.status} without sense") from None
    raise ValueError(f"broker at {url}: {problem.detail} ({problem.code})")
