"""What a second core gives: the same batches by wall time on one core and on two."""

from collections.abc import Iterator
from functools import partial
from time import perf_counter, process_time
from typing import Final

import pyarrow as pa

from harness.clock import best_seconds, on_cores
from harness.context import Context, Measured
from harness.figures import Figure, at_least

SECTION: Final = "threads"
WORKLOADS: Final = ("w-a", "w-b", "ads-arbitrary")
BAR: Final = at_least(1.7)
#: The events are repeated until they are so many, in one batch: as much work as is worth a second thread.
ROWS: Final = 65_536
#: Passes before any is timed.
WARM_UP: Final = 3


def run(context: Context) -> Iterator[Figure]:
    """Measure all workloads."""
    for subject in context.subjects(SECTION, [(name, context.sizes.usual) for name in WORKLOADS]):
        figure = Measured(SECTION, subject.name, subject.subscriptions)
        index = subject.index(context.engine)
        subject.check(index, context.sizes.checked)
        context.doing(f"{subject.name}: matching on one core and on two")
        events = pa.Table.from_batches(subject.batches)
        (batch,) = pa.concat_tables([events] * -(-ROWS // events.num_rows)).combine_chunks().to_batches()
        match = partial(index.match_batch, batch)
        match()
        index.settle()
        times: dict[int, list[float]] = {1: [], 2: []}
        used = []
        for cores in (1, 2) * context.sizes.rounds:
            with on_cores(cores) as there:
                if not there:
                    context.remark("There is one core only: nothing to say about two.")
                    return
                # First what is not timed: a core that had nothing to do is slower for a while.
                wall, cpu = perf_counter(), process_time()
                for _ in range(WARM_UP):
                    match()
                used.append((process_time() - cpu) / (perf_counter() - wall))
                times[cores].append(best_seconds(match, perf_counter))
        one, two = min(times[1]), min(times[2])
        yield figure("one core", batch.num_rows / one, "events/s")
        yield figure("two cores", batch.num_rows / two, "events/s")
        # Below two, other programs had the second core, or the index did not ask for it.
        yield figure("had of two", max(used[1::2]), "cores")
        yield figure("two to one", one / two, "times", BAR)
