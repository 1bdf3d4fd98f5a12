"""A living index against a dictionary: histories, threads, and what readers see in between."""

import gc
import os
import random
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import tamis
from support.strategies import conjunctions, events, expressions
from tamis.language import Expression
from tamis.matching.segments import head, living, reading
from tamis.matching.segments.attribute import Attribute

EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "40"))
#: How long threads go on, in seconds.
DURATION = 1.5
STEPS = 3


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are made and merged all the time."""
    monkeypatch.setattr(living, "AT_ONCE", 3)
    monkeypatch.setattr(living, "FULL_HEAD", 6)
    monkeypatch.setattr(living, "ALIKE", 2)
    monkeypatch.setattr(reading, "ROWS_PER_THREAD", 2)
    monkeypatch.setattr(reading, "ROWS_AT_A_TIME", 3)


columns = st.fixed_dictionaries(
    {
        "a": st.sampled_from([0, 1, 2, 3, 2**53, 2**53 + 1, None]),
        "b": st.sampled_from(["", "a", "ab", "abc", "😀", None]),
        "c": st.none() | st.lists(st.sampled_from(["a", "ab", None]), max_size=2),
    }
)
SCHEMA = pa.schema({"a": pa.int64(), "b": pa.string(), "c": pa.list_(pa.string())})


class History(RuleBasedStateMachine):
    """Everything that one thread can do to an index, while parts are merged behind its back."""

    ids = st.integers(0, 20)
    conditions = expressions() | conjunctions()

    def __init__(self) -> None:
        super().__init__()
        self.index = tamis.Index()
        self.oracle: dict[int, Expression] = {}
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "index"
        self.reader: tamis.Index | None = None
        self.saved: dict[int, Expression] | None = None

    def teardown(self) -> None:
        self.index.settle()
        self.folder.cleanup()

    @rule(id=ids, condition=conditions)
    def add(self, id: int, condition: Expression) -> None:
        if id in self.oracle:
            with pytest.raises(tamis.SubscriptionError, match="already"):
                self.index.add(id, condition)
        else:
            self.index.add(id, condition)
            self.oracle[id] = condition

    @rule(some=st.dictionaries(ids, conditions, max_size=8))
    def add_many(self, some: dict[int, Expression]) -> None:
        if some.keys() & self.oracle.keys():
            with pytest.raises(tamis.SubscriptionError, match="already"):
                self.index.add_many(list(some), list(some.values()))
        else:
            self.index.add_many(list(some), list(some.values()))
            self.oracle |= some

    @rule(some=st.dictionaries(ids, st.integers(0, 3), max_size=5))
    def add_columns(self, some: dict[int, int]) -> None:
        given = pa.table(
            {
                "row": pa.array(range(len(some)), pa.int64()),
                "attribute": pa.array(["a"] * len(some), pa.string()),
                "operator": pa.array([">="] * len(some), pa.string()),
                "number": pa.array(some.values(), pa.int64()),
            }
        )
        if some.keys() & self.oracle.keys():
            with pytest.raises(tamis.SubscriptionError, match="already"):
                self.index.add_columns(list(some), given)
        elif some:
            self.index.add_columns(list(some), given)
            self.oracle |= {id: tamis.parse(f"a >= {value}") for id, value in some.items()}

    @rule(id=ids, condition=conditions)
    def replace(self, id: int, condition: Expression) -> None:
        if id in self.oracle:
            self.index.replace(id, condition)
            self.oracle[id] = condition
        else:
            with pytest.raises(KeyError):
                self.index.replace(id, condition)

    @rule(ids=st.sets(ids, max_size=6), known=st.booleans())
    def remove_many(self, ids: set[int], known: bool) -> None:
        ids = ids & self.oracle.keys() if known else ids
        if ids <= self.oracle.keys():
            self.index.remove_many(ids)
            for id in ids:
                del self.oracle[id]
        else:
            with pytest.raises(KeyError):
                self.index.remove_many(ids)

    @rule(id=ids)
    def remove(self, id: int) -> None:
        if id in self.oracle:
            self.index.remove(id)
            del self.oracle[id]
        else:
            with pytest.raises(KeyError):
                self.index.remove(id)

    @rule()
    def settle(self) -> None:
        self.index.settle()
        assert self.index.stats()["head"] == 0

    @rule()
    def save(self) -> None:
        self.index.save(self.path)
        self.saved = dict(self.oracle)
        self.reader = self.reader or tamis.Index.open(self.path)

    @precondition(lambda self: self.saved is not None)
    @rule(event=events())
    def refresh(self, event: dict[str, Any]) -> None:
        assert self.reader is not None
        assert self.saved is not None
        self.reader.refresh()
        assert not self.reader.refresh()
        assert set(self.reader) == set(self.saved)
        assert sorted(self.reader.match(event)) == meets(self.saved, event)
        self.reader.check_invariants()

    @precondition(lambda self: self.saved is not None)
    @rule()
    def open(self) -> None:
        """Go on with what was saved."""
        assert self.saved is not None
        self.index.settle()
        self.index = tamis.Index.open(self.path)
        self.oracle = dict(self.saved)

    @rule(event=events(), limit=st.none() | st.integers(0, 3))
    def match(self, event: dict[str, Any], limit: int | None) -> None:
        found = self.index.match(event, limit)
        expected = meets(self.oracle, event)
        if limit is None:
            assert sorted(found) == expected
        else:
            assert len(set(found)) == len(found) == min(limit, len(expected))
            assert set(found) <= set(expected)

    @rule(rows=st.lists(columns, max_size=9), limit=st.none() | st.integers(0, 2))
    def match_batch(self, rows: list[dict[str, Any]], limit: int | None) -> None:
        matches = self.index.match_batch(pa.RecordBatch.from_pylist(rows, SCHEMA), limit)
        assert len(matches.offsets) == len(rows) + 1
        for number, row in enumerate(rows):
            found, expected = list(matches.row(number)), meets(self.oracle, row)
            if limit is None:
                assert sorted(found) == expected
            else:
                assert len(set(found)) == len(found) == min(limit, len(expected))
                assert set(found) <= set(expected)

    @precondition(lambda self: self.oracle)
    @rule(data=st.data(), event=events())
    def condition(self, data: st.DataObject, event: dict[str, Any]) -> None:
        id = data.draw(st.sampled_from(sorted(self.oracle)))
        assert self.index.condition(id).matches(event) == self.oracle[id].matches(event)

    @invariant()
    def same_subscriptions(self) -> None:
        assert len(self.index) == len(self.oracle)
        assert set(self.index) == set(self.oracle)
        assert all((id in self.index) == (id in self.oracle) for id in range(21))
        self.index.check_invariants()


def meets(conditions: dict[int, Expression], event: dict[str, Any]) -> list[int]:
    return sorted(id for id, condition in conditions.items() if condition.matches(event))


def test_random_histories() -> None:
    run_state_machine_as_test(History, settings=settings(max_examples=EXAMPLES, stateful_step_count=40, deadline=None))


class Threads:
    """Threads that go on for a while, until each has made some steps; what one raises is raised by `join`."""

    def __init__(self) -> None:
        self._end = time.monotonic() + DURATION
        self._errors: list[BaseException] = []
        self._threads: list[threading.Thread] = []
        #: How many each thread has made.
        self._steps: list[int] = []

    def start(self, step: Callable[[random.Random], object], seed: int) -> None:
        run = threading.Thread(target=self._run, args=(step, random.Random(seed), len(self._threads)), daemon=True)
        self._threads.append(run)
        self._steps.append(0)
        run.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)
            if thread.is_alive():
                self._errors.append(AssertionError("a thread does not end"))
        if self._errors:
            raise self._errors[0]

    def _run(self, step: Callable[[random.Random], object], source: random.Random, number: int) -> None:
        try:
            while not self._errors and (time.monotonic() < self._end or min(self._steps) < STEPS):
                step(source)
                self._steps[number] += 1
        except BaseException as error:  # noqa: BLE001 - raised by `join`
            self._errors.append(error)


class Guarded:
    """What is certainly there: a writer says so after it added, and takes it back before it removes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: By id and condition: how often it began and ended to be certain, and whether it may be there.
        self._certain: dict[tuple[int, str], int] = {}
        self._possible: dict[tuple[int, str], int] = {}
        self.clock = 0

    def may_be(self, id: int, text: str) -> None:
        with self._lock:
            self._possible[id, text] = -1

    def is_there(self, id: int, text: str) -> None:
        with self._lock:
            self.clock += 1
            self._certain[id, text] = self.clock

    def may_go(self, id: int, text: str) -> None:
        with self._lock:
            self._certain.pop((id, text))

    def is_gone(self, id: int, text: str) -> None:
        with self._lock:
            self.clock += 1
            self._possible[id, text] = self.clock

    def before(self) -> tuple[int, dict[tuple[int, str], int]]:
        with self._lock:
            return self.clock, dict(self._certain)

    def after(
        self, began: int, certain: dict[tuple[int, str], int]
    ) -> tuple[set[tuple[int, str]], set[tuple[int, str]]]:
        """Return what was certainly there all the time, and what may have been there at some time."""
        with self._lock:
            throughout = {key for key, since in certain.items() if self._certain.get(key) == since}
            possible = {key for key, gone in self._possible.items() if gone < 0 or gone > began}
            return throughout, possible


TEXTS = (
    "x = 1",
    "x > 0",
    "x in (1, 5) or y = 2",
    "s like '%a%' and x < 3",
    "x = 2",
    "y is null",
    "x <> 1 and y is not null",
)
EVENTS: tuple[dict[str, Any], ...] = ({"x": 1}, {"x": 2, "y": 2}, {"s": "ba", "x": 0}, {"x": 1, "y": 1, "s": "b"}, {})


def test_threads_see_what_is_there_and_nothing_else() -> None:
    index = tamis.Index()
    guarded = Guarded()
    conditions = {text: tamis.parse(text) for text in TEXTS}
    own: dict[int, dict[int, str]] = {0: {}, 1: {}, 2: {}}

    def change(source: random.Random) -> None:
        writer = writers[threading.get_ident()] if threading.get_ident() in writers else len(writers)
        writers[threading.get_ident()] = writer
        mine = own[writer]
        if len(mine) < 30 and source.random() < 0.6:
            count = source.choice((1, 1, 2, 5))
            free = [id for id in range(writer, 180, 3) if id not in mine][:count]
            new = {id: source.choice(TEXTS) for id in free}
            for id, text in new.items():
                guarded.may_be(id, text)
            index.add_many(list(new), list(new.values()))
            for id, text in new.items():
                guarded.is_there(id, text)
            mine |= new
        elif mine:
            id = source.choice(list(mine))
            old, text = mine[id], source.choice(TEXTS)
            guarded.may_go(id, old)
            if source.random() < 0.5 and text != old:
                guarded.may_be(id, text)
                index.replace(id, text)
                guarded.is_there(id, text)
                mine[id] = text
            else:
                index.remove(id)
                del mine[id]
            guarded.is_gone(id, old)

    def match(source: random.Random) -> None:
        some = [source.choice(EVENTS) for _ in range(source.choice((1, 20)))]
        began, certain = guarded.before()
        if len(some) == 1:
            found = [index.match(some[0])]
        else:
            schema = pa.schema({"x": pa.int64(), "y": pa.int64(), "s": pa.string()})
            matches = index.match_batch(pa.RecordBatch.from_pylist(some, schema))
            found = [list(matches.row(row)) for row in range(len(some))]
        throughout, possible = guarded.after(began, certain)
        for event, ids in zip(some, found, strict=True):
            assert len(set(ids)) == len(ids)
            assert {id for id, text in throughout if conditions[text].matches(event)} <= set(ids)
            assert set(ids) <= {id for id, text in possible if conditions[text].matches(event)}

    def look(source: random.Random) -> None:
        began, certain = guarded.before()
        asked = source.sample(list(certain), min(10, len(certain)))
        known = {id for id, _ in asked if id in index}
        listed = set(index)
        throughout, possible = guarded.after(began, certain)
        assert {id for id, _ in throughout} <= listed <= {id for id, _ in possible}
        assert {id for id, text in asked if (id, text) in throughout} <= known

    writers: dict[int, int] = {}
    threads = Threads()
    for seed in range(3):
        threads.start(change, seed)
    for seed in range(2):
        threads.start(match, 10 + seed)
    threads.start(look, 20)
    threads.join()
    index.settle()
    index.check_invariants()
    expected = {id: text for mine in own.values() for id, text in mine.items()}
    assert {id: str(index.condition(id)) for id in index} == {
        id: str(conditions[text]) for id, text in expected.items()
    }
    for event in EVENTS:
        assert sorted(index.match(event)) == sorted(
            id for id, text in expected.items() if conditions[text].matches(event)
        )


def test_a_replaced_subscription_is_never_seen_twice_and_never_not() -> None:
    """Both conditions are met by the event: whichever version a reader sees, the id is there, once."""
    index = tamis.Index()
    index.add_many(range(20), ["x = 1"] * 20)
    batch = pa.record_batch({"x": [1] * 20})

    def replace(source: random.Random) -> None:
        index.replace(
            source.randrange(20), source.choice(("x = 1", "x > 0", "x in (1, 2)", "x is not null", "not x = 2"))
        )

    def match(_: random.Random) -> None:
        assert sorted(index.match({"x": 1})) == list(range(20))

    def match_rows(_: random.Random) -> None:
        matches = index.match_batch(batch)
        assert all(sorted(matches.row(row)) == list(range(20)) for row in range(20))

    def look(source: random.Random) -> None:
        id = source.randrange(20)
        assert id in index
        assert index.condition(id).matches({"x": 1})
        assert sorted(index) == list(range(20))

    threads = Threads()
    for seed, step in enumerate((replace, replace, match, match_rows, look)):
        threads.start(step, seed)
    threads.join()
    index.settle()
    index.check_invariants()


def test_settling_does_not_wait_for_what_others_go_on_changing(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a writer who is always quicker: after each part that is made, the next head is full."""
    index = tamis.Index()
    go_on = True
    make = living.Living._make_part

    def make_and_change(self: living.Living, made: head.Head) -> None:
        make(self, made)
        if go_on:
            for id in range(10):
                index.replace(id, "x > 1")

    index.add_many(range(10), ["x = 1"] * 10)
    index.add(10, "x = 1")
    monkeypatch.setattr(living.Living, "_make_part", make_and_change)
    with ThreadPoolExecutor(1) as pool:
        settling = pool.submit(index.settle)
        try:
            settling.result(60)
        finally:
            go_on = False


def test_what_is_saved_while_others_write_is_one_version(tmp_path: Path) -> None:
    """Every id is replaced all the time and none is removed: a version without one of them never was."""
    index = tamis.Index()
    index.add_many(range(10), ["x = 1"] * 10)

    def replace(source: random.Random) -> None:
        index.replace(source.randrange(10), f"x > {-source.randrange(100)}")

    def save(_: random.Random) -> None:
        index.save(tmp_path / "index")
        opened = tamis.Index.open(tmp_path / "index")
        assert sorted(opened) == sorted(opened.match({"x": 1})) == list(range(10))

    threads = Threads()
    for seed, step in enumerate((replace, save, save)):
        threads.start(step, seed)
    threads.join()


def _add(index: tamis.Index, id: str | int, barrier: threading.Barrier, refused: list[BaseException]) -> None:
    barrier.wait()
    try:
        index.add(id, "a = 1")
    except tamis.SubscriptionError as error:
        refused.append(error)


def test_ids_of_two_kinds_do_not_mix_whoever_comes_first() -> None:
    for _ in range(20):
        index = tamis.Index()
        barrier = threading.Barrier(2)
        refused: list[BaseException] = []

        threads = [threading.Thread(target=_add, args=(index, id, barrier, refused)) for id in ("one", 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(index) == len(refused) == 1
        index.settle()
        index.check_invariants()


def test_events_that_their_owner_goes_on_to_change_do_no_harm() -> None:
    index = tamis.Index()
    event: dict[str, Any] = {"a": 1}

    def grow(source: random.Random) -> None:
        index.match(event)
        event[f"x{source.randrange(1000)}"] = 1
        event.pop(source.choice(list(event)))

    def write(source: random.Random) -> None:
        id = source.randrange(40)
        index.remove(id) if id in index else index.add(id, f"x{id} = 1")

    threads = Threads()
    threads.start(grow, 1)
    threads.start(write, 2)
    threads.join()
    index.settle()


def test_what_fails_in_the_background_is_told_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    index = tamis.Index()

    def broken(*_: Any) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(head, "part_of", broken)
        for id in range(10):
            index.add(id, "a = 1")
        with pytest.raises(MemoryError, match="no room"):
            index.settle()
        assert sorted(index.match({"a": 1})) == list(range(10))
    index.settle()
    assert sorted(index.match({"a": 1})) == list(range(10))
    assert index.stats()["head"] == 0


def test_a_forked_process_goes_on() -> None:
    index = tamis.Index()
    index.add_many(range(50), [f"a >= {number}" for number in range(50)])
    batch = pa.record_batch({"a": list(range(60))})
    assert len(index.match_batch(batch)) == 50 * 51 // 2 + 10 * 50
    child = os.fork()
    if not child:
        try:
            index.add_many(range(100, 150), ["a = 1"] * 50)
            index.settle()
            os._exit(0 if len(index.match_batch(batch).row(1)) == 52 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_is_not_needed_any_more_is_gone_at_once() -> None:
    """Nothing waits for the garbage collector: it would keep readers waiting."""

    def attributes() -> list[Attribute]:
        return [each for each in gc.get_objects() if isinstance(each, Attribute)]

    gc.collect()
    others = set(map(id, attributes()))
    index = tamis.Index()
    gc.disable()
    try:
        index.add_many(range(20), [f"x > {each} and name like 'a%' and y.z in (1, 2)" for each in range(20)])
        index.settle()
        index.match({"x": 5, "name": "ab", "y": {"z": 1}})
        known = [weakref.ref(each) for each in attributes() if id(each) not in others]
        assert known
        del index
        assert [each() for each in known] == [None] * len(known)
    finally:
        gc.enable()
