"""`tamis.Index`: conditions in, events in, ids out."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.language import Expression, ExpressionError, parse
from tamis.language.explain import Explanation, explain
from tamis.language.limits import MAX_INTEGER, MIN_INTEGER
from tamis.matching.errors import SubscriptionError
from tamis.matching.estimate import Budget, Estimate, Events, Miss, estimate, listed, nearest_misses
from tamis.matching.matches import Matches
from tamis.matching.positions import Positions
from tamis.matching.segments.blocks import NO_LIMIT
from tamis.matching.segments.columns import draft_of_columns
from tamis.matching.segments.ids import Ids
from tamis.matching.segments.living import Living
from tamis.matching.segments.saved import Opened, open_saved
from tamis.matching.segments.texts import Texts
from tamis.matching.segments.turns import in_short_turns
from tamis.matching.subscriptions import Found, Id, New, Subscriptions

#: Rows of a table that are matched at a time.
BATCH_ROWS = 65_536

#: Events of the past from which costs are estimated, at most.
SAMPLED = 1_000


class Index:
    """A set of subscriptions, each an id with a condition, that tells which ones an event meets.

    Ids are strings or 64-bit integers, of one type in one index. Every method either does what it says or raises and
    changes nothing. With the engine `auto`, any number of threads may read and change an index at the same time; with
    another engine it is for one thread at a time.
    """

    def __init__(
        self,
        engine: str = "auto",
        budget: float | None = None,
        over_budget: Literal["refuse", "warn"] = "refuse",
    ) -> None:
        """Make an index without subscriptions.

        With a `budget`, a subscription with which more events of a million would be compared is refused, or accepted
        with a `BudgetWarning`; see `estimate`.
        """
        self._name = engine
        self._held: Subscriptions = Living() if engine == "auto" else Positions(engine)
        self._budget = None if budget is None else Budget(budget, over_budget)
        self._events = 0
        self._matches = 0

    # --- subscriptions ------------------------------------------------------------------------------

    @in_short_turns
    def add(self, id: Id, condition: str | Expression) -> None:
        """Add a subscription. An id that is there already is refused."""
        self._check_id(id, self._held.kind)
        self._held.add(self._within_budget([self._accepted(id, condition)]))

    @in_short_turns
    def add_many(
        self,
        ids: Iterable[Id],
        conditions: Iterable[str | Expression],
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Add many subscriptions, all or none. `progress` is called with how many are done, and of how many."""
        listed, texts = _listed(ids), _listed(conditions)
        if len(listed) != len(texts):
            raise SubscriptionError(f"{len(listed)} ids but {len(texts)} conditions")
        self._check_ids(listed)
        self._held.add(self._within_budget(self._all_accepted(listed, texts, progress)))
        if progress is not None and listed:
            progress(2 * len(listed), 2 * len(listed))

    @in_short_turns
    def add_columns(self, ids: Iterable[Id], predicates: pa.Table | pa.RecordBatch) -> None:
        """Add many conjunctions that are given as columns, all or none, without writing and reading a text for each.

        Each line is a predicate: `row` (which of the ids), `attribute`, `operator` (one of `= <> < <= > >=`), and
        either a `number` or a `text`. All predicates of a row must hold; a row without any is always met.
        """
        if not isinstance(self._held, Living):
            raise SubscriptionError(f"engine {self._name!r} takes no columns; use add_many")
        column = Ids.of(ids if isinstance(ids, pa.Array | pa.ChunkedArray | np.ndarray) else list(ids))
        repeated = column.first_repeated()
        if repeated is not None:
            raise SubscriptionError(f"subscription {repeated!r} occurs twice")
        kind = self._held.kind
        if len(column) and kind is not None and kind is not column.kind:
            raise SubscriptionError(f"these ids are no {kind.__name__}, like the other ids of this index")
        draft = draft_of_columns(len(column), predicates)
        self._held.add_draft(column, draft, Texts.empty(len(column)))

    @in_short_turns
    def replace(self, id: Id, condition: str | Expression) -> None:
        """Give a subscription that is there another condition."""
        self._check_is_id(id)
        (new,) = self._within_budget([self._accepted(id, condition)])
        self._held.replace(new)

    @in_short_turns
    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        self._check_is_id(id)
        self._held.remove((id,))

    @in_short_turns
    def remove_many(self, ids: Iterable[Id]) -> None:
        """Remove many subscriptions, all or none."""
        listed = _listed(ids)
        if len(set(listed)) < len(listed):
            raise SubscriptionError(f"subscription {_repeated(listed)!r} occurs twice")
        for id in listed:
            self._check_is_id(id)
        if listed:
            self._held.remove(listed)

    def condition(self, id: Id) -> Expression:
        """Return the condition of a subscription."""
        self._check_is_id(id)
        self._held.check_known((id,))
        return self._held.condition(id)

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, id: object) -> bool:
        return id in self._held

    def __iter__(self) -> Iterator[Id]:
        return iter(self._held)

    # --- events -------------------------------------------------------------------------------------

    def match(self, event: Mapping[str, Any], limit: int | None = None) -> list[Id]:
        """Return the ids that an event meets, each once, in no particular order; not more than `limit`."""
        found = self._held.match(event, _checked(limit))
        self._events += 1
        self._matches += len(found)
        return found

    def any(self, event: Mapping[str, Any]) -> bool:
        """Return whether an event meets any subscription."""
        return bool(self.match(event, 1))

    def match_batch(self, events: pa.RecordBatch | pa.Table, limit: int | None = None) -> Matches:
        """Return the ids that each row meets; of each row not more than `limit`.

        Columns are attributes, struct columns nested ones.
        """
        found = self._found(events, _checked(limit), kept=True)
        return Matches(found.offsets, found.positions, found.names)

    def count_batch(self, events: pa.RecordBatch | pa.Table) -> npt.NDArray[np.int64]:
        """Return how many subscriptions each row meets."""
        counts: npt.NDArray[np.int64] = np.diff(self._found(events, NO_LIMIT, kept=False).offsets)
        return counts

    def any_batch(self, events: pa.RecordBatch | pa.Table) -> npt.NDArray[np.bool_]:
        """Return for each row whether it meets any subscription."""
        return np.diff(self._found(events, 1, kept=False).offsets) > 0

    def _found(self, events: pa.RecordBatch | pa.Table, limit: int, kept: bool) -> Found:
        found = self._held.match_batches(_batches(events), limit, kept)
        self._events += events.num_rows
        self._matches += int(found.offsets[-1])
        return found

    def explain(self, id: Id, event: Mapping[str, Any]) -> Explanation:
        """Say why a subscription does or does not match an event, predicate by predicate.

        An engine that shares parts of conditions tells besides how many subscriptions contain each part.
        """
        return explain(self.condition(id), event, self._held.shared_by)

    def estimate(self, condition: str | Expression, sample: Events | None = None) -> Estimate:
        """Say how many of a million events would meet a condition and how many would be compared with it.

        The sample are events, or if none are given, some of the last ones that the index was asked for.
        """
        expression = condition if isinstance(condition, Expression) else parse(condition)
        return estimate(expression, self._sample(sample))

    def nearest_misses(self, id: Id, sample: Events | None = None, count: int = 5) -> list[Miss]:
        """Return the events of a sample that come nearest to meeting a subscription without doing so.

        The nearest lack the fewest predicates, which are told. The sample is as for `estimate`.
        """
        return nearest_misses(self.condition(id), self._sample(sample), count)

    def _sample(self, sample: Events | None) -> list[Mapping[str, Any]]:
        events = self._seen() if sample is None else listed(sample)
        if not events:
            raise ValueError("there is no sample: give some events, or let the index match some before")
        return events

    def _seen(self) -> list[Mapping[str, Any]]:
        return self._held.sample.events(SAMPLED) if isinstance(self._held, Living) else []

    def stats(self) -> dict[str, Any]:
        """Return sizes, candidates per event and bytes."""
        held = self._held.stats()
        return {
            "engine": self._name,
            "subscriptions": len(self),
            "events": self._events,
            "matches": self._matches,
            "candidates_per_event": held.pop("candidates") / self._events if self._events else 0.0,
            **held,
        }

    def settle(self) -> None:
        """Wait until what is to be done in the background for all changes up to now is done.

        That is merging, with the engine `auto`; for what others change meanwhile nobody waits.
        """
        self._held.settle()

    def check_invariants(self) -> None:
        """Raise `AssertionError` if ids, positions and the engine do not fit together."""
        self._held.check_invariants()

    # --- files --------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write all subscriptions to a folder, as a new version, which appears only when it is complete."""
        self._held.save(Path(path).resolve())

    @classmethod
    def open(cls, path: str | Path) -> "Index":
        """Return the index in a folder: its newest version that is whole.

        With the engine `auto` it is mapped into memory, which all processes share that open it. What is no index, or
        damaged, is refused with an `IndexFileError`.
        """
        folder = Path(path).resolve()
        opened = open_saved(folder)
        index = cls.__new__(cls)
        index._name, index._events, index._matches, index._budget = opened.engine, 0, 0, None
        index._held = Living(folder, opened) if opened.engine == "auto" else _rebuilt(opened)
        return index

    def refresh(self) -> bool:
        """Take over a newer version from where the index was opened or saved, and return whether there was one."""
        if not isinstance(self._held, Living):
            raise ValueError(f"an index with engine {self._name!r} is opened anew instead")
        return self._held.refresh()

    # --- inside -------------------------------------------------------------------------------------

    def _check_id(self, id: Any, kind: type | None) -> None:
        if type(id) not in (str, int):
            raise SubscriptionError(f"an id is a str or an int, not {type(id).__name__} ({id!r})")
        if isinstance(id, int) and not MIN_INTEGER <= id <= MAX_INTEGER:
            raise SubscriptionError(f"id {id} does not fit in 64 bits")
        if isinstance(id, str) and _is_broken(id):
            raise SubscriptionError(f"id {id!r} holds half of a surrogate pair, which is not a character")
        if kind is not None and kind is not type(id):
            raise SubscriptionError(f"id {id!r} is no {kind.__name__}, like the other ids of this index")

    def _check_ids(self, ids: list[Any]) -> None:
        """Check new ids; an error names the first row that is wrong."""
        kind = self._held.kind or (type(ids[0]) if ids else None)
        for row, id in enumerate(ids):
            try:
                self._check_id(id, kind)
            except SubscriptionError as error:
                raise SubscriptionError(f"row {row}: {error}") from None
        if len(set(ids)) < len(ids):
            repeated = _repeated(ids)
            raise SubscriptionError(f"row {_second(ids, repeated)}: subscription {repeated!r} occurs twice")

    def _check_is_id(self, id: Any) -> None:
        """Refuse what cannot be the id of a subscription that is there."""
        if type(id) is not self._held.kind:
            raise KeyError(f"there is no subscription {id!r}")

    def _within_budget(self, new: Iterable[New]) -> Iterable[New]:
        if self._budget is None:
            return new
        listed = list(new)
        if listed:
            self._budget.check([each.expression for each in listed], self._seen())
        return listed

    def _all_accepted(
        self, ids: list[Id], conditions: list[str | Expression], progress: Callable[[int, int], None] | None
    ) -> Iterator[New]:
        """Return subscriptions one after the other, so that not all are there as expressions at once."""
        for row, (id, condition) in enumerate(zip(ids, conditions, strict=True)):
            try:
                yield self._accepted(id, condition)
            except ExpressionError as error:
                raise SubscriptionError(f"row {row}, subscription {id!r}: {error.one_line()}") from error
            except SubscriptionError as error:
                raise SubscriptionError(f"row {row}: {error}") from None
            if progress is not None:
                progress(row + 1, 2 * len(ids))

    def _accepted(self, id: Id, condition: str | Expression) -> New:
        expression = condition if isinstance(condition, Expression) else parse(condition)
        self._held.accept(expression)
        text = condition if isinstance(condition, str) else str(condition)
        if _is_broken(text):
            raise SubscriptionError("the condition holds half of a surrogate pair, which is not a character")
        return New(id, expression, text)


def _is_broken(text: str) -> bool:
    """Return whether a text cannot be written to a file, for it holds half of a surrogate pair."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _rebuilt(opened: Opened) -> Positions:
    held = Positions(opened.engine)
    held.add([New(id, parse(text), text) for id, text in zip(opened.ids, opened.texts, strict=True)])
    return held


def _batches(events: pa.RecordBatch | pa.Table) -> list[pa.RecordBatch]:
    if isinstance(events, pa.Table):
        batches: list[pa.RecordBatch] = events.to_batches(max_chunksize=BATCH_ROWS)
        return batches
    if isinstance(events, pa.RecordBatch):
        return [events]
    raise TypeError(f"match_batch takes a pyarrow RecordBatch or Table, not {type(events).__name__}")


def _checked(limit: int | None) -> int:
    if limit is not None and limit < 0:
        raise ValueError(f"a limit is not negative: {limit}")
    return NO_LIMIT if limit is None else limit


def _listed(values: Iterable[Any]) -> list[Any]:
    return values.to_pylist() if isinstance(values, pa.Array | pa.ChunkedArray) else list(values)


def _repeated(ids: list[Any]) -> Any:
    seen: set[Any] = set()
    return next(id for id in ids if id in seen or seen.add(id))  # type: ignore[func-returns-value]


def _second(ids: list[Any], id: Any) -> int:
    return ids.index(id, ids.index(id) + 1)
