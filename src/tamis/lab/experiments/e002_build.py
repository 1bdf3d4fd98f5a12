"""Time to build each engine (specs/002 §9.4)."""

from time import process_time
from typing import Final

import msgspec

from tamis.lab.claim import Claim
from tamis.lab.contest import SIZES, be_gen, contest
from tamis.lab.experiment import Context, Experiment, Outcome, Row, Scale
from tamis.lab.trial import Task, fill, prepare
from tamis.lab.workloads import BE_GEN_DENSE
from tamis.matching.algorithms.opindex import Mode, OpIndex

#: "build: 100M: PSTBloom -78 % vs BE-Tree; OpIndex sorted-after-each is 10³ slower (dense)".
CLAIMS: Final = tuple(
    Claim(
        kind=kind,
        at=100_000_000,
        engine="pstbloom",
        against="betree",
        paper=0.22,
        measure="build_seconds",
        good="smaller",
    )
    for kind in ("dense", "sparse")
)
SLOWER_AFTER_EACH: Final = 1_000
#: Subscriptions on which the two modes of OpIndex are compared; sorting after each takes time by the square.
SORTED: Final = {Scale.QUICK: (300, 1_000), Scale.FULL: (1_000, 10_000)}


def run(context: Context) -> Outcome:
    """Build every engine at every size, and OpIndex in both of its modes."""
    points = be_gen(context.scale, "subscriptions", SIZES[context.scale])
    outcome = contest(context, points, CLAIMS, "subscriptions", "build_seconds")
    rows = [*outcome.rows, *(_modes(size, context.seed) for size in SORTED[context.scale])]
    return msgspec.structs.replace(outcome, rows=rows)


def _modes(size: int, seed: int) -> Row:
    task = prepare(msgspec.structs.replace(BE_GEN_DENSE, subscriptions=size, events=1), seed)
    slower = _seconds("sorted-after-each", task) / _seconds("sorted-at-end", task)
    label = f"dense, {size:,}: OpIndex sorted-after-each / sorted-at-end, build time"
    return Row(label, slower, SLOWER_AFTER_EACH, good="order")


def _seconds(mode: Mode, task: Task) -> float:
    started = process_time()
    fill(OpIndex(mode), task)
    return process_time() - started


EXPERIMENT: Final = Experiment(
    id="002-build",
    title="Time to build against the number of subscriptions",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen, dense (100 dimensions) and sparse (30,000), at the defaults of the thesis.",
    run=run,
    grid="timed",
)
