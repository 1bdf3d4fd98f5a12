"""Has it moved enough to tell? Matches in, those that have to be told out, batch or stream."""

import datetime as dt
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from tamis.pipeline.asked import findings
from tamis.pipeline.dealing import MOST_SHARDS, PACKETS, Dealer
from tamis.pipeline.errors import AttributeWarning
from tamis.pipeline.matching import origin_of
from tamis.pipeline.memory import Memory
from tamis.pipeline.packets import unpacked
from tamis.pipeline.particulars import kept_layers
from tamis.pipeline.recalling import STATE, initial_packets
from tamis.pipeline.schema import ID, IDS, VERSION
from tamis.pipeline.session import STATE_STORE
from tamis.pipeline.store import Store
from tamis.pipeline.telling import Packet, Teller
from tamis.pipeline.workers import by_workers, settle_in

#: Columns that are added to those of the matches.
NOTIFICATION: Final = "notification_id"
KEY: Final = "notification_key"
OUTCOME: Final = "outcome"
#: Into so many shards subscriptions are dealt by default: as many tasks can work at a time.
SHARDS: Final = 8

_INTEGERS: Final = (ByteType, ShortType, IntegerType, LongType)
_TIMES: Final = (TimestampType, TimestampNTZType)
_PROVIDER: Final = "spark.sql.streaming.stateStore.providerClass"
_MICROSECOND: Final = dt.timedelta(microseconds=1)


def notify(
    matches: DataFrame,
    subscriptions: str | Path,
    *,
    sequence: str,
    identity: str | None = None,
    lateness: int | dt.timedelta = 0,
    ttl: int | dt.timedelta | None = None,
    shards: int = SHARDS,
    initial: DataFrame | None = None,
) -> DataFrame:
    """Say which matches have to be told: those whose value moved as far as the subscription's `notify` clause asks.

    `matches` is what `match` gave, with the columns that clauses name; `subscriptions` is the path that it was matched
    against. For each subscription and key it is decided as `tamis.notification.Gate` does; a subscription without a
    clause is told of everything. `sequence` is a column of integers or times by which events are taken in order. If
    nothing was done with the answer of `match` in between, the same tasks match events and deal them to shards, so that
    no lists of ids pass through Spark; otherwise it takes longer and says the same.

    One row comes out for each pair of an event and a subscription that is not held back: with `subscription_id`,
    `subscription_version`, the key as text in `notification_key`, and the `outcome`. It is `told`; or `refused`, if the
    value or the key cannot be one, or there is no sequence; or `late`, if the subscription has seen an event of this
    key with a greater sequence already. The last two count for nothing. `notification_id` is made of the subscription,
    the key, the sequence, and the column `identity` where the sequence alone does not tell events apart: it is the same
    whenever this is repeated.

    In a stream, events wait until one comes that is `lateness` ahead of them, and are put in order meanwhile; those of
    one key with the same sequence have no order unless there is an `identity`. A key that was silent for longer than
    `ttl`, in the measure of the sequence, is forgotten, and told again when it comes back. So is a subscription that is
    gone or has got another clause. `shards` is how many parts the memory has: that of a key, or where there is none of
    the subscription, has the pair. In each of them a subscription remembers as many keys as in a `Gate`. `initial` is
    what was told before: see `remembered`.
    """
    fields = {field.name: field.dataType for field in matches.schema.fields}
    lists = _check_matches(fields)
    names = [name for name in fields if name not in (IDS, ID, VERSION)]
    for name in (sequence, *([identity] if identity is not None else [])):
        if name not in names:
            raise ValueError(f"there is no column {name!r}; there are: {', '.join(names)}")
    if not isinstance(fields[sequence], (*_INTEGERS, *_TIMES)):
        raise ValueError(f"column {sequence!r} is an integer or a time, not {fields[sequence].simpleString()}")
    if not 1 <= shards <= MOST_SHARDS:
        raise ValueError(f"there are from 1 to {MOST_SHARDS} shards, not {shards}")
    store = Store(subscriptions)
    manifest = store.manifest()
    kept_layers(store, manifest)
    _check_clauses(manifest.notified, matches.schema, f"{store.path}, version {manifest.version}")
    streams = matches.isStreaming
    teller = Teller(
        path=str(store.path),
        names=names,
        sequence=sequence,
        identity=identity,
        lateness=_measured(lateness, fields[sequence], "lateness", sequence) if streams else None,
        ttl=None if ttl is None else _measured(ttl, fields[sequence], "ttl", sequence),
    )
    packets = _packets(matches, teller, lists, shards)
    begin = None if initial is None else initial_packets(initial, manifest.ids, shards)
    processor = _Processor(teller, manifest.ids, shards)
    told = _streamed(packets, processor, begin) if streams else _at_once(packets, processor, begin, shards)
    id_type: DataType = LongType() if manifest.ids == "long" else StringType()
    schema = [
        *(StructField(name, fields[name]) for name in names),
        StructField(ID, id_type),
        StructField(VERSION, LongType()),
        StructField(KEY, StringType()),
        StructField(OUTCOME, StringType()),
    ]
    answer = [*(each.dataType for each in schema), LongType(), StringType()]
    numbered = StructType([StructField(str(at), each) for at, each in enumerate(answer)])
    found = told.mapInArrow(by_workers(_unpacked, f"notify of {store.path}"), numbered)
    columns = [F.col(f"`{at}`") for at in range(len(answer))]
    own, (time, event) = columns[:-2], columns[-2:]
    made = _identified(own[-4], own[-2], time, event if identity is not None else None)
    return found.select(*own, made).toDF(*(each.name for each in schema), NOTIFICATION)


# --- checks ---------------------------------------------------------------------------------------------


def _check_matches(fields: dict[str, DataType]) -> bool:
    """Say whether there are lists of ids, or raise a `ValueError`."""
    lists = IDS in fields
    if lists == (ID in fields) or VERSION not in fields:
        raise ValueError(f"matches have {IDS!r} or {ID!r}, and {VERSION!r}, as match gives them")
    if lists and not isinstance(fields[IDS], ArrayType):
        raise ValueError(f"column {IDS!r} is an array of ids, not {fields[IDS].simpleString()}")
    for name in (NOTIFICATION, KEY, OUTCOME):
        if name in fields:
            raise ValueError(f"the answer has a column {name!r}: rename that of the matches, or leave it out")
    return lists


def _check_clauses(asked: dict[str, dict[str, int]], schema: StructType, where: str) -> None:
    found = findings(asked, schema)
    if found.missing:
        names = ", ".join(f"{name!r} ({count} clauses)" for name, count in found.missing.items())
        raise ValueError(
            f"{where}: notify clauses need columns that the matches lack: {names}; let match keep them with columns=…"
        )
    for name, (column, wanted) in found.mismatched.items():
        warnings.warn(
            f"{where}: column {name} is {column}, but {sum(wanted.values())} notify clauses want a number: "
            "their matches are refused",
            AttributeWarning,
            stacklevel=3,
        )


def _measured(given: int | dt.timedelta, column: DataType, what: str, sequence: str) -> int:
    """Return a distance in the measure of the sequence: an integer, or microseconds."""
    if isinstance(column, _TIMES):
        # Nothing is nothing in any measure.
        if given == 0:
            return 0
        if not isinstance(given, dt.timedelta):
            raise ValueError(f"{what} is a timedelta, because {sequence!r} is a time, not {given!r}")
        given = given // _MICROSECOND
    elif not isinstance(given, int) or isinstance(given, bool):
        raise ValueError(f"{what} is an integer, because {sequence!r} is one, not {given!r}")
    if given < 0:
        raise ValueError(f"{what} is {given}, but it must not be below 0")
    return given


# --- inside ---------------------------------------------------------------------------------------------


def _packets(matches: DataFrame, teller: Teller, lists: bool, shards: int) -> DataFrame:
    """Deal matches; where they are just what `match` gave, it is done by the same task, so that ids need not travel."""
    dealer = Dealer(teller.path, teller.names, lists, shards, teller.sequence if teller.lateness else None)
    origin = origin_of(matches)
    if origin is not None and origin.task.path == teller.path:
        dealer = msgspec.structs.replace(dealer, task=origin.task)
        return origin.rows.mapInArrow(by_workers(dealer.run, f"{origin.told}, and deal to {shards} shards"), PACKETS)
    # Names with dots, or that differ in case alone, mean something else to Spark: columns go by number.
    places = {name: f"c{number}" for number, name in enumerate(matches.columns)}
    order = [*teller.names, IDS if lists else ID, VERSION]
    rows = matches.toDF(*places.values()).select(*(places[name] for name in order))
    return rows.mapInArrow(by_workers(dealer.run, f"deal matches to {shards} shards"), PACKETS)


class _Processor(StatefulProcessor):  # type: ignore[misc]  # it publishes no types
    """A shard in a stream: its memory and the events that wait are states of Spark."""

    def __init__(self, teller: Teller, ids: str, shards: int) -> None:
        self.teller = teller
        self._ids = ids
        self._shards = shards

    def init(self, handle: Any) -> None:
        self._memory = handle.getValueState(STATE, "state binary")
        self._waiting = handle.getValueState("waiting", "packets binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803, ARG002 - Spark's names
        memory = self._resumed()
        waiting = self._waiting.get()
        before: list[Packet] = [] if waiting is None else _PACKETS.decode(waiting[0])
        answers, later = self.teller.take(memory, (_packet(row) for row in rows), before)
        self._memory.update((memory.encode(self.teller.ttl),))
        if later:
            self._waiting.update((msgspec.msgpack.encode(later),))
        elif before:
            self._waiting.clear()
        return (Row(data=answer) for answer in answers)

    def handleInitialState(self, key: Any, initialState: Row, timerValues: Any) -> None:  # noqa: N802, N803, ARG002 - Spark's names
        memory = self._resumed()
        self.teller.take(memory, [_packet(initialState)], [])
        self._memory.update((memory.encode(),))

    def close(self) -> None:
        settle_in()

    def _resumed(self) -> Memory:
        state = self._memory.get()
        if state is None:
            return self.begin()
        memory = Memory.decode(state[0])
        if not memory.shards:
            raise ValueError(
                "the state was dealt to shards by an older Tamis in another way: begin a new checkpoint with "
                "initial=remembered(…) of this one"
            )
        if memory.shards != self._shards:
            raise ValueError(
                f"the state is dealt to {memory.shards} shards, but {self._shards} are asked for: ask for as many as "
                "before, or begin a new checkpoint with initial=remembered(…) of this one"
            )
        return memory

    def begin(self) -> Memory:
        """Return a memory in which there is nothing."""
        return Memory(pa.int64() if self._ids == "long" else pa.string(), self._shards)


_PACKETS: Final = msgspec.msgpack.Decoder(list[Packet])


def _packet(row: Any) -> Packet:
    return row.version, row.kind, bytes(row.data)


def _streamed(packets: DataFrame, processor: _Processor, begin: DataFrame | None) -> DataFrame:
    spark = packets.sparkSession
    if spark.conf.get(_PROVIDER, None) != STATE_STORE:
        raise ValueError(f"notify in a stream needs the state store of RocksDB: set {_PROVIDER} to {STATE_STORE}")
    start = None if begin is None else begin.groupBy("shard")
    return packets.groupBy("shard").transformWithState(processor, "data binary", "append", "none", start)


def _at_once(packets: DataFrame, processor: _Processor, begin: DataFrame | None, shards: int) -> DataFrame:
    """Take a table as a whole: each shard in one task, which has its events in memory."""
    everything = packets if begin is None else begin.unionByName(packets)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: dict[int, list[Packet]] = {}
        for batch in batches:
            for shard, *packet in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                found.setdefault(shard, []).append((packet[0], packet[1], packet[2]))
        while found:
            _, mine = found.popitem()
            answers, _ = processor.teller.take(processor.begin(), mine, [])
            for answer in answers:
                yield pa.record_batch([pa.array([answer], pa.binary())], names=["data"])

    together = everything.repartition(shards, "shard")
    return together.mapInArrow(by_workers(run, f"tell in {shards} shards"), "data binary")


def _unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for data in batch.column(0):
            yield unpacked(data.as_buffer())


def _identified(subscription: Column, key: Column, time: Column, event: Column | None) -> Column:
    """Return 128 bits as text: the same for the same subscription, key, sequence and identity, whatever they hold."""
    parts = [subscription.cast("string"), key, time.cast("string"), *([event] if event is not None else [])]
    # With their lengths, so that no text can pass for two others.
    written = [F.coalesce(F.concat(F.length(part).cast("string"), F.lit(":"), part), F.lit("-")) for part in parts]
    return F.md5(F.concat(*written))
