"""A history of events, matched once and counted where it is matched."""

import atexit
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import DateType, StringType, TimestampNTZType, TimestampType

from tamis.language import parse_subscription
from tamis.language.names import parts_of
from tamis.pipeline.asked import findings
from tamis.pipeline.compiling import compile as compile_
from tamis.pipeline.errors import AttributeWarning
from tamis.pipeline.manifests import Manifest
from tamis.pipeline.store import Store
from tamis.pipeline.tally import Index, Question, schema_of
from tamis.pipeline.workers import by_workers

_TIMES: Final = (DateType, TimestampType, TimestampNTZType)
#: The id of a condition that stands alone.
ALONE: Final = "condition"


class Compiled(NamedTuple):
    """A version of subscriptions, which may have been made for one question only."""

    path: Path
    manifest: Manifest
    is_temporary: bool

    def opened(self) -> Index:
        """Return what a task has to know."""
        return Index(str(self.path), self.manifest.version, self.manifest.ids == "long")

    def remove(self) -> None:
        """Remove it, if nobody else has a use for it."""
        if self.is_temporary:
            shutil.rmtree(self.path, ignore_errors=True)


def stored(history: DataFrame, conditions: str | Mapping[str, str] | DataFrame | Path) -> Compiled:
    """Return conditions compiled. Those that are given as texts must be right; of a table, bad rows are rejects."""
    if isinstance(conditions, Path):
        return Compiled(conditions, Store(conditions).manifest(), is_temporary=False)
    if isinstance(conditions, str):
        conditions = {ALONE: conditions}
    if isinstance(conditions, Mapping):
        for text in conditions.values():
            parse_subscription(text)
        conditions = history.sparkSession.createDataFrame(list(conditions.items()), "id string, condition string")
    # On one machine, as `match` does with tables; others compile to a path that all workers see.
    folder = Path(tempfile.mkdtemp(prefix="tamis-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Compiled(folder, compile_(conditions, folder), is_temporary=True)


def counted(
    history: DataFrame,
    now: Compiled,
    *,
    time: str | None,
    examples: int,
    columns: Sequence[str] | None = None,
    against: Compiled | None = None,
    before: Compiled | None = None,
) -> DataFrame:
    """Return the counts of all tasks, which Spark keeps."""
    if history.isStreaming:
        raise ValueError("this history is a stream: a history is a table")
    kinds = {field.name: field.dataType for field in history.schema.fields}
    repeated = [name for name, count in Counter(history.columns).items() if count > 1]
    if repeated:
        raise ValueError(f"events have the column {repeated[0]!r} twice: it cannot be told which one is meant")
    there = ", ".join(kinds)
    shown = list(kinds) if columns is None else list(columns)
    for name in [*shown, *([time] if time is not None else [])]:
        if name not in kinds:
            raise ValueError(f"there is no column {name!r}; there are: {there}")
    asked: set[str] = set()
    for each in (now, against, before):
        if each is not None:
            asked |= {parts_of(name)[0] for name in each.manifest.asked}
            found = findings(each.manifest.asked, history.schema)
            if found:
                warnings.warn(f"{found}; there are the columns {there}", AttributeWarning, stacklevel=3)
    names = [name for name in kinds if name in asked or (examples and name in shown)]
    question = Question(
        names=names,
        shown=[at for at, name in enumerate(names) if name in shown],
        examples=examples,
        index=now.opened(),
        against=None if against is None else against.opened(),
        before=None if before is None else before.opened(),
    )
    # Names with dots, or that differ in case alone, mean something else to Spark: columns go by number.
    places = {name: f"c{number}" for number, name in enumerate(kinds)}
    day = F.lit(None).cast("date") if time is None else _day(places[time], time, kinds[time])
    rows = history.toDF(*places.values()).select(*(places[name] for name in names), day.alias("day"))
    return rows.mapInArrow(by_workers(question.run, _told(now, against, before)), schema_of(question)).persist()


def _day(place: str, name: str, kind: Any) -> Column:
    if isinstance(kind, StringType):
        return F.to_date(F.try_to_timestamp(F.col(place)))
    if not isinstance(kind, _TIMES):
        raise ValueError(f"column {name!r} is {kind.simpleString()}: days are told by dates, timestamps or their texts")
    return F.to_date(F.col(place))


def _told(now: Compiled, against: Compiled | None, before: Compiled | None) -> str:
    text = f"replay {now.manifest.subscriptions:,} conditions"
    if against is not None:
        text += f" against {against.manifest.subscriptions:,} subscriptions"
    if before is not None:
        text += f" and {before.manifest.subscriptions:,} that were before"
    return text
