"""The log: events with names and values, for people or as JSON. No content of events, no tokens, no conditions.

| name | values |
|---|---|
| `broker.listening`, `broker.stopped` | url, http, strategy |
| `broker.unencrypted` | host: tokens and events can be read by whoever is on the way |
| `link.up`, `link.down` | neighbour |
| `link.closed` | neighbour, reason |
| `link.failed` | address, reason |
| `client.slow` | client, waiting |
| `settings.reread`, `settings.wrong` | reason |
| `store.failed`, `store.written` | reason; it cannot be written, and then it can again |
| `store.given_up`, `store.given_up_elsewhere` | events that durable subscriptions had not had, or may have wanted |
| `store.away`, `store.conflict` | a broker for whose store nothing is kept any more; two stores that do not agree |
| `store.stumbled` | reason: tidying up has failed, and is tried again |
| `http.failed` | path, and what was raised |
| `http.error` | reason: what the HTTP server itself has to say |
"""

import logging
import sys
from typing import Any, Final, TypeAlias

import structlog

#: What writes the log: `log.info("link.up", neighbour=…)`.
Log: TypeAlias = structlog.typing.FilteringBoundLogger

#: Where the log of a broker goes that is part of another program; what becomes of it is that program's choice.
NAME: Final = "tamis.server"


def to_logging() -> Log:
    """Return a log that goes to `logging`, as `name key=value …`."""
    log: Log = structlog.wrap_logger(
        logging.getLogger(NAME),
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"], drop_missing=True),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return log


def to_stderr(as_json: bool = False) -> Log:
    """Return a log that goes to standard error, one line for each event: for people, or as JSON."""
    renderer: Any
    if as_json:
        renderer = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(sort_keys=True)]
    else:
        renderer = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    log: Log = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    uvicorn = logging.getLogger("uvicorn")
    uvicorn.handlers, uvicorn.propagate = [_Bridge(log)], False
    # What strangers send may not fill the log.
    uvicorn.setLevel(logging.ERROR)
    return log


class _Bridge(logging.Handler):
    """Takes what uvicorn logs into the log."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.error("http.error", reason=record.getMessage(), exc_info=record.exc_info)
