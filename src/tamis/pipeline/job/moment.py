"""How a stream is doing: rates and lag, from what Spark reports of its last batch."""

import json
from typing import Any, Final

import msgspec

from tamis.pipeline.job.settings import FILES, Settings
from tamis.pipeline.log import EventLog

#: What is behind is counted in these.
_UNITS: Final = {"log": "segments", "tamis": "segments", "kafka": "records"}


class Moment(msgspec.Struct, frozen=True):
    """A job after a micro-batch. Counts are of this run."""

    batch: int
    events: int
    answers: int
    rejected: int
    #: Events per second, of the last batch.
    rate: float
    #: Seconds that it took.
    seconds: float
    version: int | None
    #: How much is there that has not been taken yet, and in what it is counted; none if the source does not tell.
    behind: int | None
    unit: str | None

    def __str__(self) -> str:
        lag = "" if self.behind is None else f", {self.behind:,} {self.unit} behind"
        bad = f", {self.rejected:,} rejected" if self.rejected else ""
        version = "" if self.version is None else f", version {self.version}"
        return (
            f"batch {self.batch}: {self.events:,} events, {self.answers:,} answers{bad}; "
            f"{self.rate:,.0f} events/s, {self.seconds:.1f} s{lag}{version}"
        )


def lag(progress: dict[str, Any], settings: Settings) -> tuple[int, str] | tuple[None, None]:
    """Return how much a stream is behind its source."""
    source = progress["sources"][0] if progress["sources"] else {}
    format_ = settings.events.format
    if format_ in FILES:
        files = (source.get("metrics") or {}).get("numFilesOutstanding")
        return (int(files), "files") if files is not None else (None, None)
    end = _offset(source.get("endOffset"))
    if format_ in ("log", "tamis"):
        assert settings.events.path is not None
        done = int(end.get("segment", 0))
        return max(0, EventLog(settings.events.path).last(done or None) - done), _UNITS[format_]
    latest = _offset(source.get("latestOffset"))
    done_by, there = (offset.get("topics", offset) for offset in (end, latest))
    behind = sum(
        int(next_) - int(done_by.get(topic, {}).get(partition, next_))
        for topic, partitions in there.items()
        for partition, next_ in partitions.items()
    )
    return (max(0, behind), _UNITS[format_]) if there else (None, None)


def _offset(given: Any) -> dict[str, Any]:
    found = json.loads(given) if isinstance(given, str) else given
    return found if isinstance(found, dict) else {}
