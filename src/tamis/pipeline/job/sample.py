"""A small job that runs as it is: `tamis pipeline init` writes it, and everything that may be set is told in it."""

import datetime as dt
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tamis.pipeline.job.settings import NAME

EVENTS: Final = 600
#: Files in which they come, and so many micro-batches.
FILES: Final = 3
_SYMBOLS: Final = ("ACME", "BOLT", "CORE", "DUNE")

_TOML: Final = """\
# A Tamis pipeline: which events meet which subscriptions, and who is told.
#   tamis pipeline check pipeline.toml     says what is wrong before anything runs
#   tamis pipeline run pipeline.toml       runs it
# Paths are below the folder of this file. What is commented out shows other ways.

[job]
name = "alerts"
# batch: all events, once.  catch-up: those that came since the last run, then end.  stream: go on until told to stop.
mode = "catch-up"
# What the job must remember: compiled subscriptions, how far it is, rejects. Remove it to begin anew.
state = "state"
# every = 5.0                      # stream: seconds from one micro-batch to the next; 0: as soon as there is something

[spark]
master = "local[2]"                # left to spark-submit where that starts the job
# remote = "sc://localhost:15002"  # a Spark Connect server instead of a master

[spark.conf]
"spark.sql.shuffle.partitions" = "2"

[subscriptions]
# Columns: id, condition, and if you like notify, owner, tags, active, version. csv, json or parquet; jdbc (a database),
# tamis (what a running broker keeps), or any other format of Spark with its options.
format = "csv"
path = "subscriptions.csv"
# refresh = 10.0                   # stream: every so many seconds it is looked whether they have changed

# format = "jdbc"                  # PostgreSQL also without a driver, if psycopg is installed
# [subscriptions.options]
# url = "jdbc:postgresql://localhost/alerts"
# dbtable = "subscriptions"

# format = "tamis"
# [subscriptions.options]
# url = "http://localhost:7480"
# token = "..."

# [subscriptions.changes]          # or: they are compiled once, and then change by files that are added to a folder
# format = "json"
# path = "changes"

[events]
# json (one object in a line), csv, parquet, log (an event log of Tamis), kafka, or tamis (a broker)
format = "json"
path = "events"
# The columns and their types, as in SQL. Parquet and an event log know theirs.
schema = "n long, symbol string, price double, volume long, at timestamp"
most = 1                           # a micro-batch takes at most so many files, segments or records

# format = "kafka"
# connector = "auto"               # spark: the standard connector; python: ours, on confluent-kafka; auto: either
# [events.options]
# "kafka.bootstrap.servers" = "localhost:9092"
# subscribe = "quotes"
# startingOffsets = "earliest"

[match]
output = "pairs"                   # a row for each match; lists: a row for each event, with all ids
# columns = ["symbol", "price"]    # which columns of the events are kept; default: all
# strategy = "auto"                # replicate: the index is on every host; shard: it is dealt out

# [notify]                         # tell only what has moved as the subscription's notify clause says
# sequence = "n"                   # the column by which events are in order: a number or a time
# lateness = 0                     # wait for events that come so much later; seconds, if it is a time
# ttl = 86400                      # forget what was silent for longer

[sink]
format = "json"                    # json, csv, parquet, kafka, tamis or postgres
path = "answers"
# key = ["n"]                      # columns that make an event unique: notifications then have the same id for ever

# format = "postgres"              # the table has these columns, batch_id, and notification_id as its primary key
# [sink.options]
# dsn = "postgresql://localhost/alerts"
# table = "alerts"
"""

_SUBSCRIPTIONS: Final = """\
id,condition,owner,active
cheap-acme,symbol = 'ACME' and price < 96,ann,true
dear-acme,symbol = 'ACME' and price > 104,ann,true
any-dear,price >= 108,bob,true
busy,"volume > 9000 and symbol in ('BOLT', 'CORE')",bob,true
early,at < timestamp '2026-01-05 09:02:00',cho,true
quiet-dune,symbol like 'D%' and volume between 1 and 400,cho,true
asleep,price > 0,dee,false
slip,price > ,dee,true
"""


def write_sample(folder: str | Path) -> list[Path]:
    """Write the job with its events and subscriptions to a folder, and return the files; none of them may be there."""
    root = Path(folder)
    contents = {root / NAME: _TOML, root / "subscriptions.csv": _SUBSCRIPTIONS}
    lines = [json.dumps(event) for event in events()]
    # Not everything that comes is an event: these two are put aside and counted.
    lines.insert(10, '{"n": "eleven", "symbol": "ACME"}')
    lines.insert(-10, "this is no JSON")
    size = -(-len(lines) // FILES)
    for number in range(FILES):
        part = lines[number * size : (number + 1) * size]
        contents[root / "events" / f"day-{number + 1}.jsonl"] = "\n".join(part) + "\n"
    there = [path for path in contents if path.exists()]
    if there:
        raise FileExistsError(f"{there[0]} is there already: nothing was written")
    now = time.time()
    for number, (path, text) in enumerate(contents.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        # Spark takes files in the order of their times.
        os.utime(path, (now, now - len(contents) + number))
    return list(contents)


def events() -> Iterator[dict[str, Any]]:
    """Yield the events of the sample: the same ever."""
    start = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)
    for number in range(EVENTS):
        # Numbers that look as if by chance.
        turn = (number * 7919 + 13) % 1009
        yield {
            "n": number,
            "symbol": _SYMBOLS[turn % len(_SYMBOLS)],
            "price": round(90 + (turn * 37 % 211) / 10.55, 2),
            "volume": turn * 101 % 10_007,
            "at": (start + dt.timedelta(seconds=number)).isoformat(),
        }
