"""From events to answers, as `[match]` and `[notify]` tell."""

import datetime as dt
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import TimestampNTZType, TimestampType

from tamis.pipeline.job.settings import Notify, Settings
from tamis.pipeline.matching import match
from tamis.pipeline.notifying import notify


def answered(events: DataFrame, settings: Settings, version: int | None = None) -> DataFrame:
    """Match events, and hold back what has not moved enough if the job says so."""
    chosen = settings.match
    matches = match(
        events,
        settings.store,
        output=chosen.output,
        columns=chosen.columns,
        version=version,
        strategy=chosen.strategy,
    )
    return matches if settings.notify is None else _notified(matches, settings, settings.notify)


def _notified(matches: DataFrame, settings: Settings, chosen: Notify) -> DataFrame:
    kinds = {field.name: field.dataType for field in matches.schema.fields}
    is_time = isinstance(kinds.get(chosen.sequence), TimestampType | TimestampNTZType)

    def measured(given: float) -> Any:
        return dt.timedelta(seconds=given) if is_time else int(given)

    return notify(
        matches,
        settings.store,
        sequence=chosen.sequence,
        identity=chosen.identity,
        lateness=measured(chosen.lateness),
        ttl=None if chosen.ttl is None else measured(chosen.ttl),
        **({} if chosen.shards is None else {"shards": chosen.shards}),
    )
