"""Boxes on a grid of 256 cells per attribute, as MICS was measured (specs/001 §3)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

import numpy as np

from tamis.lab.workloads.conjunctions import Conjunctions, conjunctions, numbered, ranges
from tamis.lab.workloads.draws import Floats, pick, zipf
from tamis.lab.workloads.events import SparseEvents, sparse_events
from tamis.lab.workloads.workload import WorkloadSpec

CELLS: Final = 256


class Mics(WorkloadSpec, frozen=True, kw_only=True):
    """Boxes whose lower ends, and publications, follow Zipf's or the uniform law in every attribute.

    Widths are whole numbers from `narrowest` to `widest`, each as likely. The exponent and the clamping of
    lower ends to the grid are ours (specs/001 §3). Beyond the first `indexed` attributes a predicate is left out
    with the probability `wildcard`.
    """

    GRID: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "subscriptions": (20_000, 60_000, 100_000, 150_000),
        "law": ("zipf", "uniform"),
        "attributes": (2, 3, 4),
    }

    subscriptions: int = 100_000
    events: int = 10_000
    attributes: int = 3
    law: Literal["zipf", "uniform"] = "zipf"
    exponent: float = 1
    narrowest: int = 4
    widest: int = 4
    indexed: int = 3
    wildcard: float = 0

    def asked(self, rng: np.random.Generator, shared: None, count: int) -> Conjunctions:  # noqa: ARG002
        """Draw boxes."""
        sides = count * self.attributes
        widths = rng.integers(self.narrowest, self.widest + 1, size=sides)
        low = np.minimum(pick(rng, self.places(), sides), CELLS - widths)
        codes = np.tile(np.arange(self.attributes), count)
        kept = (codes < self.indexed) | (rng.random(sides) >= self.wildcard)
        sizes = kept.reshape(-1, self.attributes).sum(axis=1)
        predicates = ranges(low[kept], (low + widths - 1)[kept])
        return conjunctions(numbered(self.attributes), sizes, codes[kept], predicates)

    def told(self, rng: np.random.Generator, shared: None, count: int) -> SparseEvents:  # noqa: ARG002
        """Draw publications."""
        values = pick(rng, self.places(), count * self.attributes)
        codes = np.tile(np.arange(self.attributes), count)
        return sparse_events(numbered(self.attributes), np.full(count, self.attributes), codes, values)

    def places(self) -> Floats:
        """Return the probability of each cell of an attribute."""
        return zipf(CELLS, self.exponent if self.law == "zipf" else 0)


MICS_ZIPF: Final = Mics()
MICS_UNIFORM: Final = Mics(law="uniform")
#: Table 2 of the paper taken by its word: seven attributes, of which three are indexed.
MICS_TABLE_2_ZIPF: Final = Mics(attributes=7)
MICS_TABLE_2_UNIFORM: Final = Mics(attributes=7, law="uniform")
#: Fitted to the traffic of Table 2, so agreement with it confirms nothing (specs/001 §3, E8).
MICS_FITTED_ZIPF: Final = Mics(attributes=7, narrowest=1, wildcard=0.87)
MICS_FITTED_UNIFORM: Final = Mics(attributes=7, narrowest=1, wildcard=0.87, law="uniform")
