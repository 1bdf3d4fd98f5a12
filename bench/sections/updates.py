"""Adds and removes beside matching: their rates, and how long single events take meanwhile."""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter, perf_counter_ns, sleep
from typing import Any, Final, NamedTuple

import numpy as np

import tamis
from harness.clock import percentiles
from harness.context import Context, Measured
from harness.figures import Bar, Figure, at_least, at_most
from harness.predicates import predicate_table
from harness.subject import AUTO, Subject, WrongAnswerError
from tamis.compiled import kernel
from tamis.lab.workloads import Conjunctions
from tamis.matching.segments.turns import step_back

SECTION: Final = "updates"
#: Per second until all is merged, in chunks; and microseconds.
RATE: Final = at_least(50_000)
LATENCY: Final = at_most(5_000)
#: Nanoseconds: the same bar.
SLOW: Final = 5_000_000
#: Changes per second where they come steadily: more than the bar, less than an index takes.
STEADY: Final = 55_000
#: How many times the first subscriptions come and go steadily: for some seconds, so that what is merged at the end
#: hardly counts.
STEADY_TIMES: Final = 2
#: How often all is done.
ROUNDS: Final = 3
#: Seconds for which nothing is changed at first, and what that is called.
PAUSE: Final = 0.5
ALONE: Final = "alone"
#: Seconds for which the machine is looked at without an index, and how much a thread computes there at a time: some
#: 40 microseconds, as a match takes; and a millisecond, for those beside it.
LOOK: Final = 3.0
STEP, STRIDE = 40_000, 1_000_000
#: Subscriptions in one call.
CHUNK: Final = 5_000
#: The share of what is added as texts, added one by one, and removed one by one.
FEW: Final = 0.1


class Matcher:
    """Matches events one after the other in a thread of its own, and keeps how long each took."""

    def __init__(self, index: tamis.Index, events: list[dict[str, Any]]) -> None:
        self.taken: list[int] = []
        self.error: BaseException | None = None
        self._index, self._events = index, events
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Matcher":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def wait_for(self, count: int) -> None:
        """Wait until so many events were matched."""
        while len(self.taken) < count and self._thread.is_alive():
            self._thread.join(timeout=0.001)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                for event in self._events:
                    start = perf_counter_ns()
                    self._index.match(event)
                    self.taken.append(perf_counter_ns() - start)
                    if self._stop.is_set():
                        return
        except BaseException as error:  # noqa: BLE001 - told to the thread that waits
            self.error = error


def run(context: Context) -> Iterator[Figure]:
    """Fill an index with the first part of W-A; add the others beside matching, and remove all but the last.

    Again and again: for the percentiles of what is matched meanwhile one round would be too short.
    """
    size = context.sizes.updates
    if context.engine != AUTO:
        context.remark(f"{SECTION}: only engine {AUTO!r} may be changed beside matching.")
        return
    context.warm(context.engine)
    subject = context.subject("w-a", (STEADY_TIMES + 2) * size)
    conditions = subject.workload.conditions
    if not isinstance(conditions, Conjunctions):
        raise TypeError("W-A is made of conjunctions")
    figure = Measured(SECTION, subject.name, size)
    context.doing("three threads on this machine, without an index")
    yield figure("three threads without an index: above 5 ms", _slow(_undisturbed()) / LOOK, "per s")
    events = subject.rows()
    found: dict[str, Changed] = {}
    with _frozen():
        for _ in range(ROUNDS):
            index = tamis.Index()
            index.add_columns(np.arange(size), predicate_table(conditions, 0, size))
            index.settle()
            for what, count, change, bars in _changes(index, conditions, size):
                changed = found.setdefault(what, Changed(count, bars, []))
                changed.rounds.append(_beside(context, index, events, what, change))
            _check(subject, index, size, context.sizes.checked)
    for what, (count, bars, rounds) in found.items():
        taken = [each for beside in rounds for each in beside.taken]
        if what == ALONE:
            yield from _latencies(figure, what, taken, None)
            continue
        seconds = sum(each.settled for each in rounds)
        yield figure(what, count * ROUNDS / seconds, "per s", bars.rate)
        yield figure(f"{what}, before merging ends", count * ROUNDS / sum(each.returned for each in rounds), "per s")
        yield from _latencies(figure, f"beside {what}", taken, bars.latency)
        yield figure(f"match beside {what}: above 5 ms", _slow(taken) / seconds, "per s")
        yield figure(f"matches beside {what}", len(taken))


def _slow(taken: list[int]) -> int:
    """Return how many times are above the bar."""
    return sum(each > SLOW for each in taken)


def _undisturbed() -> list[int]:
    """Return how long steps of a match's length take beside two threads that compute, one of which stands back.

    None of them needs the lock of Python: where a reader waits, it waits for a core, and would with any index.
    """
    stop = threading.Event()

    def compute(back: bool) -> None:
        if back:
            step_back()
        while not stop.is_set():
            _compute(STRIDE)

    _compute(STEP)
    others = [threading.Thread(target=compute, args=(back,)) for back in (False, True)]
    for each in others:
        each.start()
    taken: list[int] = []
    start = end = perf_counter_ns()
    while end - start < LOOK * 1e9:
        begin = perf_counter_ns()
        _compute(STEP)
        end = perf_counter_ns()
        taken.append(end - begin)
    stop.set()
    for each in others:
        each.join()
    return taken


@kernel
def _compute(steps: int) -> int:
    """Compute something that takes a nanosecond or so for each step."""
    number = steps
    for _ in range(steps):
        number = (number * 25_214_903_917 + 11) & 0xFFFF_FFFF_FFFF
    return number


@contextmanager
def _frozen() -> Iterator[None]:
    """Let the garbage collector not go through what this program holds, which has nothing to do with an index."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class Bars(NamedTuple):
    """What a change must reach: its rate, and 99.9 % of matches beside it."""

    rate: Bar | None = None
    latency: Bar | None = None


def _changes(
    index: tamis.Index, conditions: Conjunctions, size: int
) -> list[tuple[str, int, Callable[[], None], Bars]]:
    """Return what is done, to how many subscriptions, how, and what it must reach."""
    few, steadily = int(size * FEW), STEADY_TIMES * size
    #: In the order of their numbers: what is there at first, what comes steadily, at once, as texts, and one by one.
    at_once, as_texts = size + steadily, 2 * size + steadily - 2 * few
    last = as_texts + 2 * few
    texts = conditions.texts()[as_texts:last].to_pylist()

    def add_columns(first: int, last: int) -> list[Callable[[], object]]:
        return [
            partial(index.add_columns, np.arange(start, end), predicate_table(conditions, start, end))
            for start, end in _chunks(first, last)
        ]

    def remove(first: int, last: int) -> list[Callable[[], object]]:
        return [partial(index.remove_many, range(start, end)) for start, end in _chunks(first, last)]

    def add_texts() -> None:
        for start, end in _chunks(0, few):
            index.add_many(range(as_texts + start, as_texts + end), texts[start:end])

    def add_singly() -> None:
        for place in range(few, 2 * few):
            index.add(as_texts + place, texts[place])

    def remove_singly() -> None:
        for id in range(at_once - few, at_once):
            index.remove(id)

    both, rate = Bars(RATE, LATENCY), Bars(RATE)
    return [
        (ALONE, 0, partial(sleep, PAUSE), Bars()),
        ("steady adds of columns", steadily, partial(_steadily, add_columns(size, at_once)), both),
        ("adds of columns", as_texts - at_once, partial(_at_once, add_columns(at_once, as_texts)), rate),
        ("adds of texts", few, add_texts, Bars()),
        ("adds one by one", few, add_singly, Bars()),
        ("steady removes", steadily, partial(_steadily, remove(0, steadily)), both),
        ("removes", size - few, partial(_at_once, remove(steadily, at_once - few)), rate),
        ("removes one by one", few, remove_singly, Bars()),
    ]


def _chunks(first: int, last: int) -> list[tuple[int, int]]:
    return [(start, min(start + CHUNK, last)) for start in range(first, last, CHUNK)]


def _steadily(calls: list[Callable[[], object]]) -> None:
    """Make changes at an even rate."""
    due = perf_counter()
    for call in calls:
        call()
        due += CHUNK / STEADY
        sleep(max(due - perf_counter(), 0))


def _at_once(calls: list[Callable[[], object]]) -> None:
    """Make changes as fast as they are taken."""
    for call in calls:
        call()


class Changed(NamedTuple):
    """A change of so many subscriptions, what it must reach, and what came out each time."""

    size: int
    bars: "Bars"
    rounds: "list[Beside]"


class Beside(NamedTuple):
    """Seconds until changes were made and until they were merged, and nanoseconds of each match meanwhile."""

    returned: float
    settled: float
    taken: list[int]


def _beside(
    context: Context, index: tamis.Index, events: list[dict[str, Any]], what: str, change: Callable[[], None]
) -> Beside:
    """Make changes beside matching."""
    context.doing(f"w-a: {what}, beside matching")
    with Matcher(index, events) as matcher:
        start = perf_counter()
        change()
        returned = perf_counter() - start
        index.settle()
        settled = perf_counter() - start
        # What is matched after that is matched alone.
        meanwhile = len(matcher.taken) + 1
        matcher.wait_for(meanwhile)
    return Beside(returned, settled, matcher.taken[:meanwhile])


def _latencies(figure: Measured, what: str, taken: list[int], bar: Bar | None) -> Iterator[Figure]:
    median, most, nearly_all = percentiles(taken, (50, 99, 99.9))
    yield figure(f"match {what}: median", median, "µs")
    yield figure(f"match {what}: 99 %", most, "µs")
    yield figure(f"match {what}: 99.9 %", nearly_all, "µs", bar)


def _check(subject: Subject, index: tamis.Index, left: int, checked: int) -> None:
    """Stop unless exactly what was added last is there and found."""
    if len(index) != left:
        raise WrongAnswerError(f"{len(index)} subscriptions are left of {left}")
    first = subject.subscriptions - left
    for row, (event, ids) in enumerate(zip(subject.rows(checked), subject.truth(checked), strict=True)):
        expected = ids[ids >= first].tolist()
        if sorted(index.match(event)) != expected:
            raise WrongAnswerError(f"after the updates event {row} meets other subscriptions than it should")
