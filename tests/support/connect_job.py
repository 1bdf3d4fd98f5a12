"""A program that finds needless conditions, replays and compares through Spark Connect, and prints what it finds.

python connect_job.py FOLDER
"""

import datetime as dt
import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tamis.pipeline import compile, cover, diff, replay  # noqa: A004 - it is one

OLD = {f"c{n}": f"x between {n % 20} and {n % 20 + n % 7}" for n in range(60)}
#: One that is covered by others and has gaps, one that nobody meets, and one that is none.
OLD |= {"gaps": "x in (3, 5)", "never": "x > 1 and x < 0", "bad": "x >"}
NEW = {id: text for id, text in OLD.items() if id not in ("c1", "bad")} | {"c2": "x = 2", "more": "x > 20"}
START = dt.date(2026, 1, 1)
EVENTS: list[dict[str, Any]] = [
    {"n": n, "x": n * 7 % 23, "day": START + dt.timedelta(days=n // 50)} for n in range(150)
]


def main(folder: Path) -> dict[str, Any]:
    """Do everything once."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.remote("local[2]").config("spark.sql.session.timeZone", "UTC")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        return work(spark, folder)
    finally:
        spark.stop()


def work(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Return what each function finds."""
    history = spark.createDataFrame([tuple(event.values()) for event in EVENTS], "n long, x long, day date")
    old, new = (spark.createDataFrame(list(each.items()), "id string, condition string") for each in (OLD, NEW))
    compile(old, folder / "store")
    needless = cover(folder / "store")
    report = needless.report
    found: dict[str, Any] = {
        "counts": [report.kept, report.covered, report.duplicate, report.unsatisfiable, report.refused],
        "verdicts": rows(needless.verdicts.select("id", "verdict", "by")),
        "merged": [report.mergeable, report.merged],
        "mergeable": rows(needless.mergeable),
    }
    needless.release()
    replayed = replay(history, new, time="day", against=folder / "store")
    found["events"] = replayed.events
    found["totals"] = rows(replayed.totals.select("id", "matches", "elsewhere"))
    found["volume"] = rows(replayed.volume)
    found["days"] = rows(replayed.days)
    found["overlap"] = rows(replayed.overlap)
    found["examples"] = rows(replayed.examples)
    replayed.release()
    changed = diff(folder / "store", new, history, time="day")
    found["changes"] = rows(changed.changes)
    found["sums"] = [changed.events, changed.gained, changed.lost, changed.both]
    found["changed examples"] = rows(changed.examples.select("id", "change"))
    changed.release()
    return found


def rows(frame: DataFrame) -> list[list[Any]]:
    """Return the rows of a table in order, as JSON has them."""
    plain = [[each.isoformat() if isinstance(each, dt.date) else each for each in row] for row in frame.collect()]
    return sorted(plain, key=str)


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
