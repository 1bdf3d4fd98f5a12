"""What is wrong with a job, told before anything runs."""

import os
import secrets
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import msgspec
from pyspark.sql import DataFrame, SparkSession

from tamis.pipeline.compiling import compile as compile_
from tamis.pipeline.connectors.identified import identified
from tamis.pipeline.connectors.present import kafka_format
from tamis.pipeline.errors import AttributeWarning
from tamis.pipeline.job.failures import FAILURES, one_line
from tamis.pipeline.job.reaching import answering_kafka, broker_answers, table_columns
from tamis.pipeline.job.settings import FILES, Settings
from tamis.pipeline.job.sources import KAFKA_KEY, read_events_of, read_subscriptions
from tamis.pipeline.job.steps import answered
from tamis.pipeline.keeping import rejects

Level = Literal["ok", "warning", "error"]

#: So many refused conditions are shown.
_SHOWN: Final = 5


class Finding(msgspec.Struct, frozen=True):
    """Something that was looked at."""

    level: Level
    #: The section of the file.
    section: str
    text: str


class Checked(msgspec.Struct, frozen=True):
    """All that was looked at."""

    findings: list[Finding]

    @property
    def is_fine(self) -> bool:
        """Whether the job can run."""
        return all(each.level != "error" for each in self.findings)


def check_job(settings: Settings, start: Callable[[], SparkSession]) -> Checked:
    """Look at everything that a job names: files, columns, conditions, connectors, and whether the sink answers.

    Spark is started only if what is there without it is in order. Nothing is written but below the job's folder, from
    where it is removed again.
    """
    found = [*_files(settings)]
    if all(each.level != "error" for each in found):
        state = Path(settings.job.state)
        folder = state / f".check-{secrets.token_hex(4)}"
        try:
            found += _with_spark(start(), _elsewhere(settings, folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return Checked(found)


def _files(settings: Settings) -> Iterator[Finding]:
    given, events, sink = settings.subscriptions, settings.events, settings.sink
    if given.format in FILES:
        yield _there("subscriptions", given.path)
    if events.format in (*FILES, "log"):
        yield _there("events", events.path)
    for section, path in (("job", settings.job.state), *([("sink", sink.path)] if sink.format in FILES else [])):
        assert path is not None
        if "://" not in path and not os.access(_ancestor(Path(path)), os.W_OK):
            yield Finding("error", section, f"nothing can be written to {path}")


def _there(section: str, path: str | None) -> Finding:
    assert path is not None
    if "://" in path or "*" in path or Path(path).exists():
        return Finding("ok", section, f"reads {path}")
    return Finding("error", section, f"there is nothing at {path}")


def _ancestor(path: Path) -> Path:
    """Return the nearest folder that is there."""
    return next(each for each in (path, *path.parents) if each.exists())


def _elsewhere(settings: Settings, folder: Path) -> Settings:
    return msgspec.structs.replace(settings, job=msgspec.structs.replace(settings.job, state=str(folder)))


def _with_spark(spark: SparkSession, settings: Settings) -> list[Finding]:
    found: list[Finding] = []
    with _noted(found, "subscriptions"):
        found += _subscriptions(spark, settings)
    answers: DataFrame | None = None
    with _noted(found, "events"), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", AttributeWarning)
        if settings.events.format == "kafka":
            found.append(_kafka("events", spark, settings.events.connector, settings.events.options, "subscribe"))
        if all(each.level != "error" for each in found):
            events = read_events_of(spark, settings, settings.state("rejects"))
            found.append(Finding("ok", "events", f"columns: {events.schema.simpleString()}"))
            answers = answered(events, settings)
        found += [Finding("warning", "match", str(each.message).partition(": ")[2]) for each in told]
    with _noted(found, "sink"):
        found += _sink(spark, settings, answers)
    return found


def _subscriptions(spark: SparkSession, settings: Settings) -> Iterator[Finding]:
    made = compile_(read_subscriptions(spark, settings.subscriptions), settings.store)
    yield Finding("ok", "subscriptions", f"{made.subscriptions:,} conditions, {made.counts.inactive:,} switched off")
    if made.counts.rejected:
        yield Finding("warning", "subscriptions", f"{made.counts.rejected:,} rows are refused")
        for row in rejects(spark, settings.store).orderBy("id").limit(_SHOWN).collect():
            where = f", character {row.position}" if row.position is not None else ""
            yield Finding("warning", "subscriptions", f"{row.id}{where}: {row.reason} in {row.condition!r}")


def _kafka(section: str, spark: SparkSession, connector: str, options: dict[str, str], topics: str) -> Finding:
    format_ = kafka_format(spark, connector)
    answering_kafka(options, topics)
    return Finding("ok", section, f"Kafka answers, by the connector {format_!r}")


def _sink(spark: SparkSession, settings: Settings, answers: DataFrame | None) -> Iterator[Finding]:
    sink = settings.sink
    if answers is not None and sink.format not in FILES:
        key = sink.key or (KAFKA_KEY if set(KAFKA_KEY) <= set(answers.columns) else [])
        answers = identified(answers, "check", key)
    if sink.format == "kafka":
        yield _kafka("sink", spark, sink.connector, sink.options, "topic")
    elif sink.format == "tamis":
        yield Finding("ok", "sink", f"broker {broker_answers(sink.options['url'])} answers")
    elif sink.format == "postgres":
        there = table_columns(sink.options["dsn"], sink.options["table"])
        wanted = [*(answers.columns if answers is not None else []), "batch_id"]
        missing = [name for name in wanted if name not in there]
        if missing:
            yield Finding("error", "sink", f"table {sink.options['table']} lacks {', '.join(missing)}")
        else:
            yield Finding("ok", "sink", f"table {sink.options['table']} has all columns")
    else:
        yield Finding("ok", "sink", f"writes {sink.format} to {sink.path}")


@contextmanager
def _noted(found: list[Finding], section: str) -> Iterator[None]:
    """Let what goes wrong be a finding: others are looked at all the same."""
    try:
        yield
    except FAILURES as error:
        found.append(Finding("error", section, one_line(error)))
