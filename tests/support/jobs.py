"""Small jobs for tests: their files, and what an index says of the same events."""

import csv
import datetime as dt
import json
import threading
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import SparkSession

import tamis
from tamis.pipeline.job.moment import Moment
from tamis.pipeline.job.running import Summary, Watcher, run
from tamis.pipeline.job.settings import Settings, load

#: Nothing takes longer, however busy the machine is.
PATIENCE = 300.0


class Recorder(Watcher):
    """Keeps what it is told; a function may be called at each moment."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.moments: list[Moment] = []
        self.then: Any = lambda _: None

    def say(self, text: str) -> None:
        self.said.append(text)

    def show(self, moment: Moment) -> None:
        self.moments.append(moment)
        self.then(moment)


def settled(file: Path, **sections: Any) -> Settings:
    """Load a job and change some of its settings."""
    settings = load(file)
    changes = {
        name: msgspec.structs.replace(getattr(settings, name), **values)
        if getattr(settings, name) is not None and isinstance(values, dict)
        else values
        for name, values in sections.items()
    }
    return msgspec.structs.replace(settings, **changes)


def ran(
    spark: SparkSession, settings: Settings, watcher: Watcher | None = None, stop: threading.Event | None = None
) -> Summary:
    """Run a job to its end, or until it is stopped: for ever it does not run."""
    stop = stop or threading.Event()
    timer = threading.Timer(PATIENCE, stop.set)
    timer.start()
    try:
        return run(spark, settings, watcher or Watcher(), stop)
    finally:
        timer.cancel()


def answers(folder: Path, key: str = "n") -> list[tuple[Any, str]]:
    """Return the pairs that a job has written as JSON."""
    lines = [line for file in sorted(folder.rglob("*.json")) for line in file.read_text().splitlines()]
    return sorted((event[key], event["subscription_id"]) for event in map(json.loads, lines))


def index_of(subscriptions: Path) -> tamis.Index:
    """Return an index of the active and right conditions of a CSV file."""
    index = tamis.Index()
    with subscriptions.open() as file:
        for row in csv.DictReader(file):
            try:
                if row.get("active") != "false":
                    index.add(row["id"], row["condition"])
            except tamis.ExpressionError:
                pass
    return index


def expected(index: tamis.Index, events: list[dict[str, Any]], key: str = "n") -> list[tuple[Any, str]]:
    """Return the pairs that an index finds."""
    found = []
    for event in events:
        at = {"at": dt.datetime.fromisoformat(event["at"])} if "at" in event else {}
        found += [(event[key], str(id)) for id in index.match(event | at)]
    return sorted(found)
