"""Where the time of a batch goes: the steps of matching, one after the other, on one core.

Steps are timed by running the first of them, the first two, and so on; each figure is what a step adds.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

import tamis
from harness.clock import best_seconds, on_cores
from harness.context import Context, Measured
from harness.figures import Figure
from harness.subject import AUTO, Subject
from tamis.matching.segments.blocks import NO_LIMIT, _is_light, _match_block, _match_many
from tamis.matching.segments.living import Living
from tamis.matching.segments.masks import EVENTS, clear, spread_out, write_masks
from tamis.matching.segments.rows import LOOSE, POINTS

SECTION: Final = "steps"
WORKLOADS: Final = ("w-a", "w-e", "w-b", "w-r")


def run(context: Context) -> Iterator[Figure]:
    """Take the workloads of the yardstick apart."""
    if context.engine != AUTO:
        context.remark(f"{SECTION}: only engine {AUTO!r} has these steps.")
        return
    context.warm(context.engine)
    for name in WORKLOADS:
        subject = context.subject(name, context.sizes.usual)
        figure = Measured(SECTION, name, subject.subscriptions)
        with on_cores(1):
            context.doing(f"{name}: taking matching apart")
            for step, seconds in _steps(subject, subject.index(AUTO)):
                yield figure(step, 1e6 * seconds / subject.events, "µs per event")


def _steps(subject: Subject, index: tamis.Index) -> Iterator[tuple[str, float]]:
    held = index._held
    assert isinstance(held, Living)
    (part,) = held._state.parts
    segment, (batch,) = part.segment, subject.batches
    offsets, leaves = segment.lines.leaves_of_rows(batch)
    thread = segment._thread()
    rows, block, pairs = segment.rows, thread.block(), thread.pairs
    # None of these workloads is matched by windows.
    ranged, only_points = rows.ranged[:-1], bool(rows.ends[POINTS] == rows.ends[LOOSE])

    def sorting(first: int, last: int) -> int:
        present: int = spread_out(first, last, offsets, leaves, rows, block)
        block.hits[leaves[offsets[first] : offsets[last]]] = 0
        return present

    def masks(first: int, last: int) -> None:
        present = sorting(first, last)
        write_masks(last - first, present, rows, block)
        clear(present, rows, block)

    def many(first: int, last: int) -> None:
        _match_many(first, last, offsets, leaves, rows, ranged, block, pairs, NO_LIMIT, True)
        block.hits[leaves[offsets[first] : offsets[last]]] = 0

    def all_rows(first: int, last: int) -> None:
        _match_block(first, last, offsets, leaves, rows, ranged, only_points, block, pairs, NO_LIMIT, True)

    def blocks(work: Callable[[int, int], object]) -> Callable[[], None]:
        edges = [*range(0, batch.num_rows, EVENTS), batch.num_rows]

        def run() -> None:
            for first, last in pairwise(edges):
                work(first, last)

        return run

    yield "translation", best_seconds(lambda: segment.lines.leaves_of_rows(batch))
    before = 0.0
    by_masks = [("sorting", blocks(sorting)), ("masks", blocks(masks)), ("rows for many events", blocks(many))]
    light = only_points and _is_light(0, min(EVENTS, batch.num_rows), offsets, leaves, rows)
    for step, work in (
        *([] if light else by_masks),
        ("rows for few events", blocks(all_rows)),
        ("answers in order", lambda: segment.match_leaves(offsets, leaves)),
    ):
        work()
        seconds = best_seconds(work)
        yield step, seconds - before
        before = seconds
    yield "all of match_batch", best_seconds(lambda: index.match_batch(batch))
