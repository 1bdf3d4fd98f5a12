import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tamis.server import store as module
from tamis.server.changes import Changes, Entry, GivenUp, Kept, Member, Origin, Told
from tamis.server.store import Store, StoreError

ORIGINS = ["here", "there"]
MUCH = 1 << 40


def event(position: int, sequence: int | None = None, origin: str = "here", size: int = 10) -> Entry:
    return Entry(position, origin, sequence or position, f"{origin}{position}", b"x" * size)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "a.store")
    yield made
    made.close()


def reopened(store: Store, name: str = "copy.store") -> Store:
    """Return the store as it would be found if the machine had stopped just now."""
    copy = store.path.with_name(name)
    for suffix in ("", "-wal"):
        if store.path.with_name(store.path.name + suffix).exists():
            shutil.copy(store.path.with_name(store.path.name + suffix), copy.with_name(copy.name + suffix))
    return Store(copy)


def everything(store: Store) -> dict[str, Any]:
    kept = store.subscriptions()
    return {
        "position": store.position(),
        "last number": store.last_number(),
        "subscriptions": kept,
        "wanted": {each.number: store.wanted_by(each.number, 0, 1000, MUCH) for each in kept},
        "told": {each.number: store.told(each.number) for each in kept},
        "origins": store.origins(),
        "log": {origin: store.of_origin(origin, 0, 1000, MUCH) for origin in store.origins()},
        "members": store.members(),
        "id": (store.id, store.made),
    }


def test_what_was_written_is_there_after_a_crash(store: Store) -> None:
    member = Member("there", "b", 7, 1.5, {"here": 2})
    store.write(
        Changes(
            entries=[event(1), event(2), Entry(3, "there", 9, "id", b"content", "trace")],
            wanted=[(1, 1), (1, 3)],
            told={(1, b"k"): Told(1, b"k", b"v", 3)},
            subscriptions=[Kept(1, "owner", "name", "x > 1")],
            have={"here": 2, "there": 9},
            members=[member],
        )
    )
    before = everything(store)
    assert before["wanted"] == {1: [event(1), Entry(3, "there", 9, "id", b"content", "trace")]}
    assert before["members"] == [member]
    assert before["told"] == {1: [b"v"]}
    copy = reopened(store)
    assert everything(copy) == before
    copy.close()


def test_events_are_read_a_few_at_a_time(store: Store) -> None:
    store.write(
        Changes(
            entries=[event(number, size=100) for number in range(1, 11)],
            wanted=[(1, number) for number in range(1, 11)],
            subscriptions=[Kept(1, "", "a", "true")],
            have={"here": 10},
        )
    )
    assert [each.position for each in store.wanted_by(1, 3, 2, MUCH)] == [4, 5]
    assert [each.position for each in store.wanted_by(1, 3, 10, 250)] == [4, 5, 6]
    assert [each.sequence for each in store.of_origin("here", 8, 10, 1)] == [9]
    assert store.last_ids("here", 2) == ["here9", "here10"]


def test_numbers_and_positions_are_never_used_again(store: Store) -> None:
    store.write(Changes(subscriptions=[Kept(1, "", "a", "true")], entries=[event(1)], have={"here": 1}))
    store.write(Changes(ended=[1], stable={"here": 1}))
    assert store.counts() == {"log": 0, "wanted": 0, "subscriptions": 0, "told": 0, "members": 0}
    copy = reopened(store)
    assert (copy.position(), copy.last_number()) == (1, 1)
    copy.close()


def test_a_name_can_be_used_anew_at_once(store: Store) -> None:
    store.write(Changes(subscriptions=[Kept(1, "", "a", "x > 1")]))
    store.write(Changes(ended=[1], subscriptions=[Kept(2, "", "a", "x > 2"), Kept(3, "other", "a", "x > 3")]))
    assert [each.condition for each in store.subscriptions()] == ["x > 2", "x > 3"]


def test_another_condition_forgets_what_was_told(store: Store) -> None:
    told = {(1, b""): Told(1, b"", b"v", 1)}
    store.write(Changes(subscriptions=[Kept(1, "", "a", "x > 1 notify x moves 1")], told=told))
    store.write(Changes(subscriptions=[Kept(1, "", "a", "x > 2 notify x moves 1")]))
    assert store.told(1) == []
    assert store.subscriptions() == [Kept(1, "", "a", "x > 2 notify x moves 1")]


def test_only_so_many_keys_are_remembered(store: Store) -> None:
    def told(first: int, count: int) -> dict[tuple[int, bytes], Told]:
        keys = [b"%d" % number for number in range(first, first + count)]
        return {(1, key): Told(1, key, key, position) for position, key in enumerate(keys, first)}

    store.write(Changes(subscriptions=[Kept(1, "", "a", "true")], told=told(0, 8)))
    store.forget_keys(4)
    assert len(store.told(1)) == 8
    store.write(Changes(told=told(8, 1)))
    store._told_since = 4
    store.forget_keys(4)
    assert store.told(1) == [b"5", b"6", b"7", b"8"]


def test_the_oldest_events_are_given_up_when_there_is_no_room(store: Store) -> None:
    many = [event(number, size=2_000) for number in range(1, 1_001)]
    store.write(
        Changes(
            entries=many,
            wanted=[(1, each.position) for each in many if each.position % 2],
            subscriptions=[Kept(1, "", "odd", "x"), Kept(2, "", "none", "x")],
            have={"here": 1_000},
            stable={"here": 100},
        )
    )
    given_up = store.give_up(0.0, 1 << 20)
    left = store.of_origin("here", 100, 2_000, MUCH)
    first = left[0].sequence
    assert 300 < len(left) < 600
    assert [each.sequence for each in left] == list(range(first, 1_001))
    assert given_up == GivenUp({1: first // 2}, {"here": first - 1})
    assert store.subscriptions()[0].given_up == first // 2
    assert store.origins()["here"] == Origin(1_000, 100, first - 1)
    assert store.give_up(0.0, 1 << 20) == GivenUp({}, {})
    store.check_invariants()


def test_a_full_disk_is_an_error_and_what_is_freed_can_be_used(store: Store) -> None:
    store.write(Changes(subscriptions=[Kept(1, "", "a", "true")]))
    (pages,) = store._writing.execute("PRAGMA page_count").fetchone()
    store._writing.execute(f"PRAGMA max_page_count={pages + 50}")
    position = 0
    failure: StoreError | None = None
    while failure is None:
        batch = [event(position + 1 + each, size=2_000) for each in range(10)]
        wanted = [(1, each.position) for each in batch]
        try:
            store.write(Changes(entries=batch, wanted=wanted, have={"here": position + 10}))
            position += 10
        except StoreError as error:
            failure = error
    assert failure.full
    assert "full" in str(failure)
    assert position > 30
    # Nothing of what was refused is there, and what was accepted is.
    assert [each.position for each in store.wanted_by(1, 0, 1000, MUCH)] == list(range(1, position + 1))
    assert store.origins()["here"].have == position
    store.write(Changes(acknowledged={1: position // 2}, stable={"here": position}))
    store.write(Changes(entries=[event(position + 1)], have={"here": position + 1}))
    store.check_invariants()


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.file"
    path.write_bytes(b"this is no database" * 1000)
    with pytest.raises(StoreError, match=r"some\.file cannot be used as a store: file is not a database"):
        Store(path)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(StoreError, match="no store of Tamis"):
        Store(other)
    with pytest.raises(StoreError, match="No such file"):
        Store(tmp_path / "nowhere" / "a.store")


def test_a_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.store"
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version={module.VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match=f"later Tamis: it has version {module.VERSION + 1}"):
        Store(path)


def test_a_damaged_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.store"
    store = Store(path)
    store.write(Changes(entries=[event(number, size=500) for number in range(1, 200)], have={"here": 199}))
    store.close()
    data = bytearray(path.read_bytes())
    for page in range(3, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"damaged|malformed"):
        Store(path)


def test_two_brokers_cannot_use_one_store(store: Store) -> None:
    with pytest.raises(StoreError, match="in use by another broker"):
        Store(store.path)


class Histories(RuleBasedStateMachine):
    """A store, whatever is written and whenever the machine stops, holds what a few dictionaries hold."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.lives = 0
        self.store = Store(self.folder / "0.store")
        self.now = 0.0
        module.time = lambda: self.now  # type: ignore[attr-defined]
        self.position = self.number = 0
        self.log: dict[int, tuple[str, int, float]] = {}
        self.kept: dict[int, list[Any]] = {}
        self.wanted: dict[int, set[int]] = {}
        self.origins = {origin: [0, 0, 0] for origin in ORIGINS}

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    @rule(origins=st.lists(st.sampled_from(ORIGINS), min_size=1, max_size=5), data=st.data())
    def events_come(self, origins: list[str], data: st.DataObject) -> None:
        self.now += 1
        changes = Changes()
        for origin in origins:
            self.position += 1
            self.origins[origin][0] += 1
            changes.entries.append(event(self.position, self.origins[origin][0], origin))
            changes.have[origin] = self.origins[origin][0]
            self.log[self.position] = origin, self.origins[origin][0], self.now
            takers = data.draw(st.sets(st.sampled_from(sorted(self.kept)))) if self.kept else set()
            for taker in sorted(takers):
                self.wanted[taker].add(self.position)
                changes.wanted.append((taker, self.position))
        self.store.write(changes)

    @rule(name=st.sampled_from("abc"), condition=st.sampled_from(["x > 1", "x > 2"]), anew=st.booleans())
    def somebody_subscribes(self, name: str, condition: str, anew: bool) -> None:
        changes = Changes()
        old = next((number for number, each in self.kept.items() if each[0] == name), None)
        if old is not None and anew:
            changes.ended.append(old)
            self.end(old)
        if old is None or anew:
            self.number += 1
            old = self.number
            self.kept[old] = [name, condition, 0]
            self.wanted[old] = set()
        self.kept[old][1] = condition
        changes.subscriptions.append(Kept(old, "", name, condition))
        self.store.write(changes)

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def somebody_acknowledges_or_leaves(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.kept)))
        if data.draw(st.integers(0, 5)) == 0:
            self.store.write(Changes(ended=[number]))
            self.end(number)
            return
        position = data.draw(st.integers(0, self.position))
        self.store.write(Changes(acknowledged={number: position}))
        self.wanted[number] = {each for each in self.wanted[number] if each > position}

    def end(self, number: int) -> None:
        del self.kept[number], self.wanted[number]

    @rule(origin=st.sampled_from(ORIGINS), data=st.data())
    def events_become_stable(self, origin: str, data: st.DataObject) -> None:
        have, stable, _ = self.origins[origin]
        if have:
            self.origins[origin][1] = data.draw(st.integers(stable, have))
            self.store.write(Changes(stable={origin: self.origins[origin][1]}))

    @rule(before=st.integers(0, 10))
    def old_events_are_given_up(self, before: int) -> None:
        self.free()
        limit = self.now - before
        gone = {position for position, (_, _, came) in self.log.items() if came < limit}
        lost = {number: len(wanted & gone) for number, wanted in self.wanted.items() if wanted & gone}
        origins: dict[str, int] = {}
        for position in sorted(gone):
            origin, sequence, _ = self.log.pop(position)
            if sequence > self.origins[origin][1]:
                origins[origin] = sequence
                self.origins[origin][2] = max(self.origins[origin][2], sequence)
        for number, wanted in self.wanted.items():
            wanted -= gone
            self.kept[number][2] += lost.get(number, 0)
        assert self.store.give_up(limit, MUCH) == GivenUp(lost, origins)

    @rule(crash=st.booleans())
    def the_broker_stops_and_starts(self, crash: bool) -> None:
        self.lives += 1
        again = reopened(self.store, f"{self.lives}.store") if crash else None
        self.store.close()
        self.store = again or Store(self.store.path)

    def free(self) -> None:
        """Let go of what nobody wants and everybody has."""
        wanted = set().union(*self.wanted.values())
        for position, (origin, sequence, _) in list(self.log.items()):
            if position not in wanted and sequence <= self.origins[origin][1]:
                del self.log[position]

    @invariant()
    def it_holds_what_it_should(self) -> None:
        if not hasattr(self, "store"):
            return
        self.free()
        self.store.check_invariants()
        assert (self.store.position(), self.store.last_number()) == (self.position, self.number)
        assert self.store.subscriptions() == [
            Kept(number, "", name, condition, lost) for number, (name, condition, lost) in sorted(self.kept.items())
        ]
        for number, wanted in self.wanted.items():
            assert {each.position for each in self.store.wanted_by(number, 0, 10_000, MUCH)} == wanted
        for origin, (have, stable, given_up) in self.origins.items():
            assert self.store.origins().get(origin, Origin(0, 0, 0)) == Origin(have, stable, given_up)
            found = [each.sequence for each in self.store.of_origin(origin, 0, 10_000, MUCH)]
            assert found == sorted(sequence for each, sequence, _ in self.log.values() if each == origin)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test does to the clock is undone."""
    monkeypatch.setattr(module, "time", module.time)  # type: ignore[attr-defined]


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
