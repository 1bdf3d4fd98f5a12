"""Shards say together what one gate says, however events are cut into batches and whatever came late."""

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.told import VERSIONS, Match, Oracle, Said, store_of
from tamis.pipeline import telling
from tamis.pipeline.dealing import Dealer
from tamis.pipeline.memory import Memory
from tamis.pipeline.packets import unpacked
from tamis.pipeline.telling import Packet, Teller

SCHEMA = pa.schema(
    {
        "n": pa.int64(),
        "k": pa.string(),
        "p": pa.float64(),
        "q": pa.int32(),
        "s": pa.struct({"k": pa.int64(), "p": pa.decimal128(10, 2)}),
    }
)
SHARDS = 3

values = st.one_of(st.none(), st.integers(-1, 9))
contents = st.fixed_dictionaries(
    {
        "k": st.sampled_from(["A", "B", None]),
        "p": st.one_of(values, st.just(math.inf)).map(lambda each: None if each is None else float(each)),
        "q": values,
        "s": st.one_of(st.none(), st.fixed_dictionaries({"k": values, "p": values})),
    }
)
everybody = sorted(set().union(*VERSIONS))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("told"))


class Shards:
    """All shards of a query, whose states are bytes between two batches."""

    def __init__(self, store: Path, lateness: int | None, lists: bool = True, ttl: int | None = None) -> None:
        self.dealer = Dealer(str(store), SCHEMA.names, lists, SHARDS, "n" if lateness else None)
        self.teller = Teller(str(store), SCHEMA.names, "n", None, lateness, ttl)
        self.lists = lists
        self.memories: dict[int, bytes] = {}
        self.waiting: dict[int, list[Packet]] = {}

    def say(self, matches: Sequence[Match]) -> list[Said]:
        """Take a batch, and return everything that is said of it."""
        rows = (
            list(matches)
            if self.lists
            else [(sequence, version, id, event) for sequence, version, ids, event in matches for id in ids]
        )
        events = pa.Table.from_pylist([{**event, "n": sequence} for sequence, _, _, event in rows], SCHEMA)
        ids = pa.array([ids for _, _, ids, _ in rows], pa.list_(pa.string()) if self.lists else pa.string())
        table = events.append_column("ids", ids).append_column(
            "version", pa.array([row[1] for row in rows], pa.int64())
        )
        packets: dict[int, list[Packet]] = {}
        for batch in self.dealer.run(iter(table.to_batches(max_chunksize=4))):
            for shard, version, kind, data in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                packets.setdefault(shard, []).append((version, kind, data))
        said: list[Said] = []
        for shard, mine in packets.items():
            state = self.memories.get(shard)
            memory = Memory(pa.string(), SHARDS) if state is None else Memory.decode(state)
            answers, self.waiting[shard] = self.teller.take(memory, mine, self.waiting.get(shard, []))
            self.memories[shard] = memory.encode(self.teller.ttl)
            for answer in answers:
                columns = [column.to_pylist() for column in unpacked(answer).columns]
                said += zip(columns[0], columns[5], columns[8], strict=True)
        return said


def cut(rows: Sequence[Any], chance: random.Random) -> list[Sequence[Any]]:
    cuts = sorted(chance.randrange(len(rows) + 1) for _ in range(3))
    return [rows[start:end] for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]


def history(events: list[dict[str, Any]], chance: random.Random) -> list[Match]:
    """Let events be of versions that go up, and meet anybody."""
    versions = sorted(chance.randint(1, len(VERSIONS)) for _ in events)
    return [
        (number, version, chance.sample(everybody, chance.randint(0, len(everybody))), event)
        for number, (version, event) in enumerate(zip(versions, events, strict=True))
    ]


def held(matches: list[Match]) -> list[Match]:
    """Leave out ids that a version does not have: nobody is matched who is not there."""
    return [
        (number, version, [id for id in ids if id in VERSIONS[version - 1]], event)
        for number, version, ids, event in matches
    ]


@settings(deadline=None, max_examples=50)
@given(st.lists(contents, max_size=40), st.randoms(use_true_random=False), st.booleans())
def test_a_table_and_any_stream_say_what_one_gate_says(
    store: Path, events: list[dict[str, Any]], chance: random.Random, lists: bool
) -> None:
    matches = held(history(events, chance))
    wanted = sorted(Oracle().says(matches))
    shuffled = chance.sample(matches, len(matches))
    assert sorted(Shards(store, None, lists).say(shuffled)) == wanted
    stream = Shards(store, 0, lists)
    said: list[Said] = []
    for part in cut(matches, chance):
        said += stream.say(chance.sample(part, len(part)))
    assert sorted(said) == wanted


@settings(deadline=None, max_examples=50)
@given(st.lists(contents, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_what_comes_out_of_order_waits_for_its_turn(
    store: Path, events: list[dict[str, Any]], chance: random.Random
) -> None:
    matches = held(history(events, chance))
    wanted = sorted(Oracle().says(matches))
    arrived = sorted(matches, key=lambda each: each[0] + chance.uniform(0, 5))
    stream = Shards(store, 5)
    said: list[Said] = []
    # An event that nobody wants lets out all that waits.
    for part in [*cut(arrived, chance), [(1_000, 1, [], event(1.0))]]:
        said += stream.say(part)
    assert sorted(said) == wanted


def event(value: float | None, key: str = "A") -> dict[str, Any]:
    return {"k": key, "p": value, "q": None, "s": None}


def test_what_comes_too_late_is_told_apart_and_counts_for_nothing(store: Path) -> None:
    stream = Shards(store, 3)
    assert stream.say([(10, 1, ["a"], event(1.0))]) == []
    assert stream.say([(20, 1, ["a"], event(2.0))]) == [(10, "a", "told")]
    assert stream.say([(17, 1, ["a"], event(4.0))]) == [(17, "a", "told")]
    # Nothing of the other key was seen yet, so it is not too late for that.
    said = stream.say([(16, 1, ["a"], event(50.0)), (5, 1, ["a"], event(50.0, "B"))])
    assert sorted(said) == [(5, "a", "told"), (16, "a", "late")]
    # What was told last is 4.0, and 2.0 is far enough from it.
    assert stream.say([(30, 1, ["a"], event(9.0))]) == [(20, "a", "told")]


def test_an_event_without_a_sequence_is_refused(store: Path) -> None:
    matches: list[Any] = [(None, 1, ["a", "c"], event(1.0)), (1, 1, ["a"], event(1.0))]
    said = Shards(store, 0).say(matches)
    assert sorted(said, key=str) == [(1, "a", "told"), (None, "a", "refused"), (None, "c", "told")]


def test_more_than_may_wait_is_taken_before_its_time(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "MOST_WAITING", 2)
    stream = Shards(store, 100)
    said = stream.say([(number, 1, ["a"], event(10.0 * number)) for number in range(5)])
    assert said == [(0, "a", "told"), (1, "a", "told"), (2, "a", "told")]


def test_silence_is_measured_by_the_sequence(store: Path) -> None:
    stream = Shards(store, 0, ttl=10)
    assert stream.say([(0, 1, ["a"], event(1.0)), (10, 1, ["a"], event(1.0))]) == [(0, "a", "told")]
    assert stream.say([(21, 1, ["a"], event(1.0))]) == [(21, "a", "told")]
