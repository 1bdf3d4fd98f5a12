"""Match time against the number of dimensions (specs/002 §9.4)."""

from typing import Final

import msgspec

from tamis.lab.claim import Claim
from tamis.lab.contest import CONJUNCTIVE, SUBSCRIPTIONS, Point, contest, point
from tamis.lab.experiment import Context, Experiment, Outcome, Scale
from tamis.lab.workloads import BE_GEN_DENSE

_FIXED: Final = "fixed size"
_PER_DIMENSION: Final = "fixed size per dimension"
DIMENSIONS: Final = {Scale.QUICK: (100, 1_000, 30_000), Scale.FULL: BE_GEN_DENSE.GRID["dimensions"]}
#: Subscriptions for each 10 dimensions; the thesis does not give its number.
PER_TEN_DIMENSIONS: Final = {Scale.QUICK: 2, Scale.FULL: 100}
#: "all but Propagation and SCAN fall; at fixed subscriptions per dimension PSTBloom best above 300".
CLAIMS: Final = (
    *(
        Claim(
            kind=_FIXED,
            at=30_000,
            since=100,
            engine=engine,
            paper=1,
            good="order" if engine in ("propagation", "SCAN") else "smaller",
        )
        for engine in CONJUNCTIVE.engines
    ),
    *(Claim(kind=_PER_DIMENSION, at=dimensions, engine="pstbloom", paper=1) for dimensions in (1_000, 30_000)),
)


def points(scale: Scale) -> list[Point]:
    """Return BE-Gen with growing dimensions, once with as many subscriptions throughout, once with as many for each."""
    found = []
    for kind in (_FIXED, _PER_DIMENSION):
        for dimensions in DIMENSIONS[scale]:
            size = SUBSCRIPTIONS[scale] if kind == _FIXED else dimensions * PER_TEN_DIMENSIONS[scale] // 10
            spec = msgspec.structs.replace(BE_GEN_DENSE, dimensions=dimensions, subscriptions=size)
            found.append(point(kind, dimensions, spec, scale))
    return found


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    return contest(context, points(context.scale), CLAIMS, "dimensions")


EXPERIMENT: Final = Experiment(
    id="002-dimensions",
    title="Match time against the number of dimensions",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen from dense (100 dimensions) to sparse (30,000), with a fixed number of subscriptions and with a "
    "fixed number for each dimension.",
    run=run,
    grid="timed",
)
