"""Events of a durable subscription go to an event log: on disk first, acknowledged then."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.client.blocking import connect
from tamis.pipeline.connectors import broker_options as named
from tamis.pipeline.log import EventLog
from tamis.recent import Recent
from tamis.wire import DEFAULT_WINDOW

#: How the log has an event: its id, and its content as JSON.
ID: Final = "id"
COLUMNS: Final = pa.schema({"value": pa.string(), ID: pa.string()})
#: Seconds to wait for an event when the query asks what is new; and, when all that is there is wanted, until there
#: seems to be none left.
_SOON: Final = 0.05
_QUIET: Final = 1.0
#: Events to be received at a time, about.
_MOST: Final = 10_000


class Receiver:
    """A durable subscription and the log that it fills."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._log = EventLog(options["path"])
        # Not more than the window can come again after a crash: those that were on their way.
        self._known: Recent[Any] = Recent(_last_ids(self._log, DEFAULT_WINDOW), limit=2 * DEFAULT_WINDOW)
        self._client = connect(**named.connection(options), name=f"spark-{options[named.DURABLE]}")
        self._client.__enter__()
        condition = options.get(named.CONDITION, "true")
        self._subscription = self._client.subscribe(condition, durable=options[named.DURABLE])

    def receive(self, seconds: float = _SOON) -> int:
        """Append what has come to the log, and acknowledge it; return how many events those were."""
        count = 0
        while count < _MOST:
            found = self._subscription.take_many(DEFAULT_WINDOW, _SOON if count else seconds)
            self._keep(found)
            count += len(found)
            if len(found) < DEFAULT_WINDOW // 2:
                break
        return count

    def _keep(self, found: list[Any]) -> None:
        new = [event for event in found if event.id not in self._known]
        if new:
            values = [msgspec.json.encode(event.content).decode() for event in new]
            self._log.append(pa.table([values, [str(event.id) for event in new]], schema=COLUMNS))
        for event in new:
            self._known.add(event.id)
        self._subscription.ack()

    def receive_all(self) -> None:
        """Receive until there seems to be nothing left."""
        while self.receive(_QUIET):
            pass


@lru_cache(maxsize=8)
def _opened(options: tuple[tuple[str, str], ...]) -> Receiver:
    return Receiver(dict(options))


def receiver(options: Mapping[str, str]) -> Receiver:
    """Return the receiver of a query, which stays connected as long as the process that asks for it lives."""
    return _opened(tuple(sorted(options.items())))


def prepared(path: str) -> None:
    """See that a log is there: its columns are known before its first event."""
    log = EventLog(path)
    if not log.first():
        log.append(COLUMNS.empty_table())


def _last_ids(log: EventLog, least: int) -> list[str]:
    """Return the ids of the last events of a log, at least so many if there are."""
    found: list[str] = []
    first = log.first()
    number = log.last(first) if first else 0
    while number >= first > 0 and len(found) < least:
        found = pq.read_table(log.segment(number), columns=[ID])[ID].to_pylist() + found
        number -= 1
    return found
