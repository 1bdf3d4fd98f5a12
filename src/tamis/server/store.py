"""The file in which a broker keeps durable events and subscriptions: SQLite with a write-ahead log.

What is written together is one transaction, on disk when `write` returns (`synchronous=FULL`). Events are in a log,
each at a position of this broker's own, and known in the whole overlay by the store where it was published first, its
origin, and its number there. A subscription has a row for each event that it wants and has not acknowledged. An event
goes when nobody wants it here and all stores of the overlay have it (it is *stable*), or when it is given up.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from time import time, time_ns
from typing import Any, Final

import msgspec

from tamis.server.changes import Changes, Entry, GivenUp, Kept, Member, Origin
from tamis.server.locked import Locked

#: What the file says it is ("Tami"), and which version of the tables is in it.
APPLICATION: Final = 0x54616D69
VERSION: Final = 1
#: So many rows are written by one statement, at most: Python waits for its turn after each statement.
ROWS: Final = 256
#: So many of the oldest events are given up at a time.
GIVEN_UP: Final = 32
#: Of so many keys a subscription with a `notify` clause remembers the value told last, at most.
KEYS_KEPT: Final = 1 << 16

_LAST: Final = (1 << 63) - 1

_TABLES: Final = """
CREATE TABLE about (id TEXT NOT NULL, made INTEGER NOT NULL);
CREATE TABLE log (
    position INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL,
    content BLOB NOT NULL, trace TEXT, came REAL NOT NULL
);
CREATE UNIQUE INDEX log_by_origin ON log (origin, sequence);
CREATE TABLE origins (
    origin TEXT PRIMARY KEY, have INTEGER NOT NULL, stable INTEGER NOT NULL DEFAULT 0,
    given_up INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE subscriptions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, name TEXT NOT NULL, condition TEXT NOT NULL,
    given_up INTEGER NOT NULL DEFAULT 0, unseen INTEGER NOT NULL DEFAULT 0, UNIQUE (owner, name)
);
CREATE TABLE wanted (
    subscription INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (subscription, position)
) WITHOUT ROWID;
CREATE INDEX wanted_by_position ON wanted (position);
CREATE TABLE told (
    subscription INTEGER NOT NULL, key BLOB NOT NULL, content BLOB NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (subscription, key)
) WITHOUT ROWID;
CREATE TABLE members (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, made INTEGER NOT NULL, seen REAL NOT NULL, vector BLOB NOT NULL
) WITHOUT ROWID;
"""


class StoreError(Exception):
    """A file that cannot be opened as a store, or something that could not be written. `full`: the disk is."""

    def __init__(self, message: str, full: bool = False) -> None:
        super().__init__(message)
        self.full = full


class Store:
    """An open store. One thread writes, another one may read at the same time."""

    def __init__(self, path: Path) -> None:
        """Open a store, or make one. What is wrong with the file is a `StoreError` that says so."""
        self.path = path
        try:
            self._lock = Locked(path.with_name(path.name + ".lock"))
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror or error}") from None
        try:
            self._writing = self._opened()
            self._reading = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._reading.execute("PRAGMA query_only=1")
        except sqlite3.Error as error:
            self._lock.release()
            raise StoreError(f"{path} cannot be used as a store: {error}") from None
        except StoreError:
            self._lock.release()
            raise
        #: So many values were told since it was last seen to that they are not too many.
        self._told_since = KEYS_KEPT
        #: Unique: whoever loses the file and begins anew is another store. And when it was made, in nanoseconds.
        self.id, self.made = self._reading.execute("SELECT id, made FROM about").fetchone()

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if tables and application != APPLICATION:
            raise StoreError(f"{self.path} is a database, but no store of Tamis")
        if version > VERSION:
            raise StoreError(
                f"{self.path} was written by a later Tamis: it has version {version}, and this one reads {VERSION}"
            )
        for (found,) in connection.execute("PRAGMA quick_check(1)"):
            if found != "ok":
                raise StoreError(f"{self.path} is damaged: {found}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        if not tables:
            marks = f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION};"
            connection.executescript(f"BEGIN; {_TABLES} {marks}")
            connection.execute("INSERT INTO about VALUES (?, ?)", (token_hex(8), time_ns()))
            connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file; everything that was written is in it."""
        self._reading.close()
        self._writing.close()
        self._lock.release()

    # --- writing -----------------------------------------------------------------------------------------

    def write(self, changes: Changes) -> None:
        """Write changes to the disk. What cannot be written is a `StoreError`, and nothing has changed."""
        with self._transaction() as execute:
            now = time()
            for subscription in changes.ended:
                _release_acknowledged(execute, subscription, _LAST)
                execute("DELETE FROM told WHERE subscription = ?", (subscription,))
                execute("DELETE FROM subscriptions WHERE number = ?", (subscription,))
            for kept in changes.subscriptions:
                execute(
                    "INSERT INTO subscriptions (number, owner, name, condition) VALUES (?, ?, ?, ?) "
                    "ON CONFLICT (number) DO UPDATE SET condition = excluded.condition",
                    kept[:4],
                )
                execute("DELETE FROM told WHERE subscription = ?", (kept.number,))
            _insert(execute, "INTO log", ((*entry, now) for entry in changes.entries))
            _insert(execute, "INTO wanted", changes.wanted)
            _insert(execute, "OR REPLACE INTO told", changes.told.values())
            self._told_since += len(changes.told)
            for origin, have in changes.have.items():
                execute(
                    "INSERT INTO origins (origin, have) VALUES (?, ?) "
                    "ON CONFLICT (origin) DO UPDATE SET have = max(have, excluded.have)",
                    (origin, have),
                )
            if changes.unseen:
                execute("UPDATE subscriptions SET unseen = unseen + ?", (changes.unseen,))
            for member in changes.members:
                vector = msgspec.msgpack.encode(member.vector)
                row = (member.id, member.name, member.made, member.seen, vector)
                execute("INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?, ?)", row)
            for id in changes.forgotten:
                execute("DELETE FROM members WHERE id = ?", (id,))
            for origin, stable in changes.stable.items():
                _release_stable(execute, origin, stable)
            for subscription, position in changes.acknowledged.items():
                _release_acknowledged(execute, subscription, position)

    def give_up(self, came_before: float, size: int) -> GivenUp:
        """Give up events that came before a time, and the oldest ones until no more than so many bytes are in use.

        Nobody may lose anything without being told: what is lost is counted for each subscription, and for each origin
        it is noted up to where events went that not all stores of the overlay had.
        """
        given_up = GivenUp({}, {})
        with self._transaction() as execute:
            while True:
                oldest = execute("SELECT position, came FROM log ORDER BY position LIMIT ?", (GIVEN_UP,)).fetchall()
                if self._used(execute) <= size:
                    oldest = [row for row in oldest if row[1] < came_before]
                if not oldest:
                    break
                self._give_up_to(execute, oldest[-1][0], given_up)
            for subscription, events in given_up.events.items():
                execute("UPDATE subscriptions SET given_up = given_up + ? WHERE number = ?", (events, subscription))
            for origin, sequence in given_up.origins.items():
                execute("UPDATE origins SET given_up = max(given_up, ?) WHERE origin = ?", (sequence, origin))
        return given_up

    def forget_keys(self, most: int = KEYS_KEPT) -> None:
        """Of a subscription with a `notify` clause that was told of more than twice so many keys, remember the last."""
        if self._told_since < most:
            return
        self._told_since = 0
        with self._transaction() as execute:
            counted = "SELECT subscription FROM told GROUP BY subscription HAVING count(*) > ?"
            for (subscription,) in execute(counted, (2 * most,)).fetchall():
                least = "SELECT position FROM told WHERE subscription = ? ORDER BY position DESC LIMIT 1 OFFSET ?"
                (position,) = execute(least, (subscription, most)).fetchone()
                execute("DELETE FROM told WHERE subscription = ? AND position <= ?", (subscription, position))

    def _give_up_to(self, execute: Any, position: int, given_up: GivenUp) -> None:
        lost = "SELECT subscription, count(*) FROM wanted WHERE position <= ? GROUP BY subscription"
        for subscription, events in execute(lost, (position,)):
            given_up.events[subscription] = given_up.events.get(subscription, 0) + events
        missing = (
            "SELECT origin, max(sequence) FROM log JOIN origins USING (origin) "
            "WHERE position <= ? AND sequence > stable GROUP BY origin"
        )
        for origin, sequence in execute(missing, (position,)):
            given_up.origins[origin] = max(sequence, given_up.origins.get(origin, 0))
        execute("DELETE FROM wanted WHERE position <= ?", (position,))
        execute("DELETE FROM log WHERE position <= ?", (position,))

    def _used(self, execute: Any) -> int:
        pages, free, size = (
            execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def _transaction(self) -> "_Transaction":
        return _Transaction(self._writing)

    # --- reading -----------------------------------------------------------------------------------------

    def position(self) -> int:
        """Return the position of the last event that ever was in the log."""
        return self._last("log")

    def last_number(self) -> int:
        """Return the number of the last subscription that was ever made."""
        return self._last("subscriptions")

    def _last(self, table: str) -> int:
        row = self._reading.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        return 0 if row is None else int(row[0])

    def subscriptions(self) -> list[Kept]:
        """Return all subscriptions."""
        rows = self._reading.execute("SELECT number, owner, name, condition, given_up, unseen FROM subscriptions")
        return [Kept(*row) for row in rows]

    def told(self, subscription: int) -> list[bytes]:
        """Return what a subscription was told, a key each, the oldest first."""
        text = "SELECT content FROM told WHERE subscription = ? ORDER BY position"
        return [content for (content,) in self._reading.execute(text, (subscription,))]

    def origins(self) -> dict[str, Origin]:
        """Return what is known of each origin."""
        rows = self._reading.execute("SELECT origin, have, stable, given_up FROM origins")
        return {origin: Origin(*rest) for origin, *rest in rows}

    def members(self) -> list[Member]:
        """Return all stores of the overlay that are known."""
        rows = self._reading.execute("SELECT id, name, made, seen, vector FROM members")
        return [
            Member(id, name, made, seen, msgspec.msgpack.decode(vector, type=dict[str, int]))
            for id, name, made, seen, vector in rows
        ]

    def wanted_by(self, subscription: int, after: int, most: int, size: int) -> list[Entry]:
        """Return the next events that a subscription wants, so many and not much more than so many bytes."""
        text = (
            "SELECT position, origin, sequence, id, content, trace FROM wanted JOIN log USING (position) "
            "WHERE subscription = ? AND position > ? ORDER BY position LIMIT ?"
        )
        return _until(self._reading.execute(text, (subscription, after, most)), size)

    def of_origin(self, origin: str, after: int, most: int, size: int) -> list[Entry]:
        """Return the next events of an origin, so many and not much more than so many bytes."""
        text = (
            "SELECT position, origin, sequence, id, content, trace FROM log "
            "WHERE origin = ? AND sequence > ? ORDER BY sequence LIMIT ?"
        )
        return _until(self._reading.execute(text, (origin, after, most)), size)

    def last_ids(self, origin: str, most: int) -> list[str]:
        """Return the ids of the last events of an origin that are here, the oldest first."""
        text = "SELECT id FROM log WHERE origin = ? ORDER BY sequence DESC LIMIT ?"
        return [id for (id,) in self._reading.execute(text, (origin, most))][::-1]

    def counts(self) -> dict[str, int]:
        """Return how many there are of what."""
        tables = ("log", "wanted", "subscriptions", "told", "members")
        return {each: self._reading.execute(f"SELECT count(*) FROM {each}").fetchone()[0] for each in tables}  # noqa: S608

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        wrong = {
            "wanted, but not there": "SELECT position FROM wanted WHERE position NOT IN (SELECT position FROM log)",
            "wanted by nobody": "SELECT 1 FROM wanted WHERE subscription NOT IN (SELECT number FROM subscriptions)",
            "told to nobody": "SELECT 1 FROM told WHERE subscription NOT IN (SELECT number FROM subscriptions)",
            "more than there are": "SELECT 1 FROM log JOIN origins USING (origin) WHERE sequence > have",
            "stable before it came": "SELECT 1 FROM origins WHERE stable > have",
            "kept for nobody": "SELECT 1 FROM log JOIN origins USING (origin) "
            "WHERE sequence <= stable AND position NOT IN (SELECT position FROM wanted)",
        }
        for what, text in wrong.items():
            assert self._reading.execute(text).fetchone() is None, what


class _Transaction:
    """All or nothing, and then on disk."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> Any:
        self._execute("BEGIN IMMEDIATE")
        return self._execute

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        try:
            if error is None:
                self._execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")

    def _execute(self, text: str, values: Iterable[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(text, tuple(values))
        except sqlite3.Error as error:
            full = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL
            raise StoreError(f"the store cannot be written: {error}", full) from None


def _insert(execute: Any, into: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows, many by each statement."""
    left = list(rows)
    at, size = 0, ROWS
    while at < len(left):
        while size > len(left) - at:
            size //= 2
        some = left[at : at + size]
        marks = ",".join([f"({','.join('?' * len(some[0]))})"] * size)
        execute(f"INSERT {into} VALUES {marks}", [value for row in some for value in row])  # noqa: S608 - only marks
        at += size


def _release_stable(execute: Any, origin: str, stable: int) -> None:
    """All stores have the events of an origin up to here: those that nobody wants go."""
    row = execute("SELECT stable FROM origins WHERE origin = ?", (origin,)).fetchone()
    execute(
        "DELETE FROM log WHERE origin = ? AND sequence > ? AND sequence <= ? "
        "AND NOT EXISTS (SELECT 1 FROM wanted WHERE wanted.position = log.position)",
        (origin, row[0], stable),
    )
    execute("UPDATE origins SET stable = max(stable, ?) WHERE origin = ?", (stable, origin))


def _release_acknowledged(execute: Any, subscription: int, position: int) -> None:
    """A subscription has had its events up to a position: those that nobody else wants go, if they are stable."""
    execute(
        "DELETE FROM log WHERE position IN (SELECT position FROM wanted WHERE subscription = ?1 AND position <= ?2) "
        "AND sequence <= (SELECT stable FROM origins WHERE origins.origin = log.origin) "
        "AND NOT EXISTS (SELECT 1 FROM wanted WHERE wanted.position = log.position AND subscription <> ?1)",
        (subscription, position),
    )
    execute("DELETE FROM wanted WHERE subscription = ? AND position <= ?", (subscription, position))


def _until(rows: Iterator[Any], size: int) -> list[Entry]:
    found = []
    for row in rows:
        found.append(Entry(*row))
        size -= len(found[-1].content)
        if size <= 0:
            break
    return found
