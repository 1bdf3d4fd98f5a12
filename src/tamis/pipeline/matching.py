"""Which subscriptions do events meet? DataFrame in, DataFrame out, batch or stream."""

import atexit
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import ArrayType, DataType, LongType, StringType, StructField, StructType

from tamis.language.names import parts_of
from tamis.pipeline.asked import Findings, findings
from tamis.pipeline.compiling import compile as compile_
from tamis.pipeline.errors import AttributeWarning
from tamis.pipeline.manifests import Manifest
from tamis.pipeline.schema import ID, IDS, VERSION
from tamis.pipeline.store import Store
from tamis.pipeline.task import Output, Task
from tamis.pipeline.workers import by_workers

Strategy = Literal["auto", "replicate", "shard"]

#: A larger index is dealt out to the hosts, and every event goes to all of them; a smaller one is on every host.
REPLICATED_BYTES: Final = 4 << 30

_ROW: Final = "row"


class Origin(NamedTuple):
    """Of what an answer of `match` is made: events, what their tasks do, and what the plan says of that."""

    rows: DataFrame
    task: Task
    told: str


#: As long as somebody has the answer in hand.
_ORIGINS: Final[WeakKeyDictionary[DataFrame, Origin]] = WeakKeyDictionary()


def match(
    events: DataFrame,
    subscriptions: DataFrame | str | Path,
    *,
    output: Output = "lists",
    columns: Sequence[str] | None = None,
    version: int | None = None,
    strategy: Strategy = "auto",
) -> DataFrame:
    """Say which subscriptions each event meets: exactly those that `tamis.Index.match_batch` says.

    `subscriptions` is a path that was compiled to, or a table, which is compiled at once into a temporary folder. Every
    attribute is the column of its name, with the same letters; `a.b` is the field `b` of the struct `a`.

    With output `lists` every event comes out once, with the array `subscription_ids`; with `pairs` once for each
    subscription that it meets, with `subscription_id`. `columns` tells which of its own columns it keeps, by default
    all. `subscription_version` is the version that it was matched against: the one in use now, or `version`; or, where
    events have a column of that name, what stands there.

    What no column can give is an `AttributeWarning`. The plan tells how the index is spread over the hosts.
    """
    if output not in ("lists", "pairs"):
        raise ValueError(f"output is 'lists' or 'pairs', not {output!r}")
    if strategy not in ("auto", "replicate", "shard"):
        raise ValueError(f"strategy is 'auto', 'replicate' or 'shard', not {strategy!r}")
    store = Store(_path_of(subscriptions))
    fields = _fields(events)
    carried = VERSION in fields
    if carried and version is not None:
        raise ValueError(f"a version is given, but events have a column {VERSION!r} that tells it")
    if carried and not isinstance(fields[VERSION], LongType):
        raise ValueError(f"column {VERSION!r} is bigint, not {fields[VERSION].simpleString()}")
    kept = _kept(fields, columns, output)
    manifest = store.manifest(version)
    found = findings(manifest.asked, events.schema)
    if found:
        warnings.warn(f"{store.path}, version {manifest.version}: {found}", AttributeWarning, stacklevel=2)
    # Versions to come may ask for other columns.
    names = [name for name in fields if name != VERSION]
    if not carried:
        asked = {parts_of(name)[0] for name in manifest.asked}
        names = [name for name in names if name in asked or name in kept]
    slots = _slots(manifest, strategy)
    if slots > 1 and output == "lists" and events.isStreaming:
        raise ValueError("an index that is dealt out gives no lists in a stream: ask for output='pairs'")
    task = Task(
        path=str(store.path),
        names=names,
        kept=[names.index(name) for name in kept],
        output=output,
        version=None if carried else manifest.version,
        slots=slots,
    )
    # Names with dots, or that differ in case alone, mean something else to Spark: columns go by number.
    places = {name: f"c{number}" for number, name in enumerate(fields)}
    rows = events.toDF(*places.values()).select(*(places[name] for name in [*names, *([VERSION] if carried else [])]))
    if slots > 1:
        rows = _dealt(rows, slots)
    id_type: DataType = LongType() if manifest.ids == "long" else StringType()
    added = StructField(IDS, ArrayType(id_type, containsNull=False)) if output == "lists" else StructField(ID, id_type)
    row = [StructField(_ROW, LongType())] if slots > 1 and output == "lists" else []
    schema = [*(StructField(name, fields[name]) for name in kept), *row, added, StructField(VERSION, LongType())]
    numbered = StructType([StructField(str(at), each.dataType) for at, each in enumerate(schema)])
    told = _told(manifest, task, carried)
    answers = rows.mapInArrow(by_workers(task.run, told), numbered)
    if row:
        answers, schema = _gathered(answers, len(kept)), [*schema[: len(kept)], *schema[len(kept) + 1 :]]
    answer = answers.toDF(*(each.name for each in schema))
    if slots == 1:
        _ORIGINS[answer] = Origin(rows, task, told)
    return answer


def check(events: DataFrame, subscriptions: str | Path, version: int | None = None) -> Findings:
    """Say what conditions ask for that the columns of events cannot give."""
    return findings(Store(subscriptions).manifest(version).asked, events.schema)


def origin_of(matches: DataFrame) -> Origin | None:
    """Return of what matches are made, if they are an answer of `match` and nothing was done with them since."""
    # Whoever keeps them does not want them to be found again.
    kept = not matches.isStreaming and matches.is_cached
    return None if kept else _ORIGINS.get(matches)


# --- inside ---------------------------------------------------------------------------------------------


def _path_of(subscriptions: DataFrame | str | Path) -> str | Path:
    if isinstance(subscriptions, str | Path):
        return subscriptions
    folder = tempfile.mkdtemp(prefix="tamis-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    manifest = compile_(subscriptions, folder)
    if manifest.counts.rejected:
        warnings.warn(
            f"{manifest.counts.rejected} subscriptions are refused: compile them to a path to see why",
            AttributeWarning,
            stacklevel=3,
        )
    return folder


def _fields(events: DataFrame) -> dict[str, DataType]:
    repeated = [name for name, count in Counter(events.columns).items() if count > 1]
    if repeated:
        raise ValueError(f"events have the column {repeated[0]!r} twice: it cannot be told which one is meant")
    return {field.name: field.dataType for field in events.schema.fields}


def _kept(fields: dict[str, DataType], columns: Sequence[str] | None, output: Output) -> list[str]:
    kept = [name for name in fields if name != VERSION] if columns is None else list(columns)
    added = {IDS if output == "lists" else ID, VERSION}
    for name in kept:
        if name in added:
            raise ValueError(f"the answer has a column {name!r}: rename that of the events, or leave it out")
        if name not in fields:
            raise ValueError(f"there is no column {name!r} to keep; there are: {', '.join(fields)}")
    return kept


def _slots(manifest: Manifest, strategy: Strategy) -> int:
    deals = strategy == "shard" or (strategy == "auto" and manifest.bytes > REPLICATED_BYTES)
    return max(1, len(manifest.shards)) if deals else 1


def _told(manifest: Manifest, task: Task, carried: bool) -> str:
    which = f"the version of each batch, now {manifest.version}" if carried else f"version {manifest.version}"
    size = f"{manifest.subscriptions:,} subscriptions, {manifest.bytes / (1 << 20):,.1f} MiB"
    spread = "index on every host" if task.slots == 1 else f"index dealt to {task.slots} slots, events sent to all"
    return f"match against {which} ({size}; {spread})"


def _dealt(rows: DataFrame, slots: int) -> DataFrame:
    """Send every row to every slot. Several tasks serve a slot, in turns, so that no row makes one of them longer."""
    wanted = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or slots)
    tasks = max(1, wanted // slots)
    numbered = rows.select("*", F.monotonically_increasing_id().alias(_ROW))
    every = F.expr(f"sequence(0L, {slots - 1}L)")
    dealt = numbered.select("*", F.explode(every).alias("slot"))
    return dealt.repartitionById(slots * tasks, (F.col("slot") * tasks + F.col(_ROW) % tasks).cast("int"))


def _gathered(answers: DataFrame, kept: int) -> DataFrame:
    """Put the lists of all slots together again."""
    row, ids, version = (f"`{kept + number}`" for number in range(3))
    own = F.struct(*(F.col(f"`{number}`") for number in range(kept)), F.col(version))
    grouped = answers.groupBy(F.col(row)).agg(F.first(own).alias("own"), F.flatten(F.collect_list(ids)).alias("ids"))
    columns = [F.col("own").getField(str(number)) for number in range(kept)]
    return grouped.select(*columns, F.col("ids"), F.col("own").getField(str(kept + 2)))
