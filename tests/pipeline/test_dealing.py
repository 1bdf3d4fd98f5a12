"""Events go where their pairs are remembered, and matching them on the way says the same as matching them before."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.stores import stored
from tamis.pipeline.attached import attached
from tamis.pipeline.dealing import EVENTS, TICK, TOLD, Dealer, homes_of
from tamis.pipeline.memory import Memory
from tamis.pipeline.packets import unpacked
from tamis.pipeline.particulars import particulars
from tamis.pipeline.spread import spread_keys
from tamis.pipeline.task import Task
from tamis.pipeline.telling import Packet, Teller

SHARDS = 5
SCHEMA = pa.schema({"n": pa.int64(), "k": pa.string(), "j": pa.float64(), "p": pa.float64()})
NAMES = SCHEMA.names
CLAUSES = ["", " notify p moves 1 per k", " notify p moves 2 per j", " notify p moves 1"]
#: Each version has two shards; in the last all clauses have the same key.
VERSIONS = [
    [{f"s{id}": f"p >= {id % 4}{CLAUSES[id % 4]}" for id in range(start, 24, 2)} for start in (0, 1)],
    [{f"s{id}": f"p < {id % 5}{CLAUSES[id % 3]}" for id in range(start, 20, 2)} for start in (0, 1)],
    [{f"s{id}": f"p < {id % 5} notify p moves {id + 1} per k" for id in range(start, 9, 2)} for start in (0, 1)],
]

rows = st.lists(
    st.tuples(
        st.sampled_from(["A", "B", "C", None]),
        st.sampled_from([0.0, -0.0, 1.0, 2.5, float("nan"), None]),
        st.one_of(st.none(), st.integers(-1, 6).map(float)),
        st.integers(1, len(VERSIONS)),
    ),
    max_size=30,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dealt")
    for shards in VERSIONS:
        stored(folder, shards)
    return folder


def batches_of(given: list[tuple[Any, ...]], chance: random.Random) -> Iterator[pa.RecordBatch]:
    """Yield events with their versions, in batches of any size."""
    columns = [list(range(len(given))), *([row[at] for row in given] for at in range(4))]
    schema = SCHEMA.append(pa.field("version", pa.int64()))
    table = pa.table([pa.array(each, field.type) for each, field in zip(columns, schema, strict=True)], schema=schema)
    start = 0
    while start < len(given):
        size = chance.randint(1, 10)
        yield from table.slice(start, size).combine_chunks().to_batches()
        start += size


def matched(store: Path, batch: pa.RecordBatch, lists: bool) -> pa.RecordBatch:
    """Return what `match` makes of a batch."""
    task = Task(str(store), NAMES, range(len(NAMES)), "lists" if lists else "pairs", None)
    answers = pa.Table.from_batches(task.run(iter([batch])))
    return answers.combine_chunks().to_batches()[0] if answers.num_rows else answers.schema.empty_table()


def packets_of(dealer: Dealer, batches: Iterator[pa.RecordBatch]) -> dict[int, list[Packet]]:
    found: dict[int, list[Packet]] = {}
    for batch in dealer.run(batches):
        for shard, *packet in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found.setdefault(spread_keys(SHARDS).index(shard), []).append((packet[0], packet[1], packet[2]))
    return found


def sent(store: Path, packets: dict[int, list[Packet]]) -> list[tuple[Any, ...]]:
    """Return every pair with its shard, where that matters."""
    found: list[tuple[Any, ...]] = []
    for shard, mine in packets.items():
        for version, kind, data in mine:
            if kind == TICK:
                found.append((TICK, shard, data))
                continue
            assert version is not None
            batch = unpacked(data)
            if kind == TOLD:
                found += [(TOLD, version, row["n"], row[""]) for row in batch.to_pylist()]
            else:
                ids = particulars(store, version).ids
                assert kind == EVENTS
                found += [
                    (EVENTS, shard, version, row["n"], id) for row in batch.to_pylist() for id in ids.take(row[""])
                ]
    return sorted(found, key=repr)


@settings(deadline=None, max_examples=50)
@given(rows, st.randoms(use_true_random=False), st.booleans())
def test_matching_on_the_way_is_matching_before(
    store: Path, given: list[tuple[Any, ...]], chance: random.Random, lists: bool
) -> None:
    batches = [*batches_of(given, chance)]
    before = Dealer(str(store), NAMES, lists, SHARDS, "n" if lists else None)
    wanted = sent(store, packets_of(before, (matched(store, batch, lists) for batch in batches)))
    task = Task(str(store), NAMES, range(len(NAMES)), "pairs", None)
    at_once = Dealer(str(store), NAMES, lists, SHARDS, "n" if lists else None, task)
    assert sent(store, packets_of(at_once, iter(batches))) == wanted
    pairs = sum(len(attached(str(store), row[3]).match(_event(row)).ids) for row in given)
    assert sum(each[0] != TICK for each in wanted) == pairs


def _event(row: tuple[Any, ...]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([dict(zip(NAMES, (0, *row), strict=False))], schema=SCHEMA)


@settings(deadline=None, max_examples=50)
@given(rows, st.randoms(use_true_random=False))
def test_a_pair_is_where_its_key_is_or_else_its_subscription(
    store: Path, given: list[tuple[Any, ...]], chance: random.Random
) -> None:
    dealer = Dealer(str(store), NAMES, True, SHARDS, task=Task(str(store), NAMES, range(len(NAMES)), "lists", None))
    teller = Teller(str(store), NAMES, "n", None, None, None)
    keyed: dict[str, int] = {}
    for shard, packets in packets_of(dealer, batches_of(given, chance)).items():
        memory = Memory(pa.string(), SHARDS)
        teller.take(memory, packets, [])
        ids, keys, _, _ = memory.rows()
        # There `initial` would send it, too.
        assert (homes_of(ids, keys, SHARDS) == shard).all()
        for key in keys.drop_null().to_pylist():
            assert keyed.setdefault(key, shard) == shard
