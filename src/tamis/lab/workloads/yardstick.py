"""The yardstick's workloads W-A, W-E, W-B and W-R: integer ranges under skewed popularity."""

from typing import Final

import numpy as np

from tamis.lab.workloads.conjunctions import Conjunctions, conjunctions, numbered, ranges
from tamis.lab.workloads.draws import Ints, distinct, pick, zipf
from tamis.lab.workloads.events import SparseEvents, sparse_events
from tamis.lab.workloads.workload import WorkloadSpec


class Yardstick(WorkloadSpec, frozen=True, kw_only=True):
    """Conjunctions of equalities and ranges; the popularity of attributes and of values is Zipf's.

    Which values are popular differs from attribute to attribute. A range covers `narrowest` to `widest`
    values and lies anywhere.
    """

    subscriptions: int = 100_000
    events: int = 2_000
    dimensions: int = 100
    cardinality: int = 1_000
    event_size: int = 20
    equality: float = 0.5
    fewest_predicates: int = 3
    most_predicates: int = 7
    alpha: float = 1
    value_alpha: float = 1
    narrowest: int = 100
    widest: int = 600

    def shared(self, rng: np.random.Generator) -> Ints:
        """Draw which values of each attribute are popular."""
        return rng.permuted(np.tile(np.arange(self.cardinality), (self.dimensions, 1)), axis=1)

    def asked(self, rng: np.random.Generator, shared: Ints, count: int) -> Conjunctions:
        """Draw conjunctions."""
        sizes = rng.integers(self.fewest_predicates, self.most_predicates + 1, size=count)
        codes = distinct(rng, zipf(self.dimensions, self.alpha), sizes)
        low, high = self._ranges(rng, codes, shared)
        return conjunctions(numbered(self.dimensions), sizes, codes, ranges(low, high))

    def told(self, rng: np.random.Generator, shared: Ints, count: int) -> SparseEvents:
        """Draw events."""
        sizes = np.full(count, self.event_size)
        codes = distinct(rng, zipf(self.dimensions, self.alpha), sizes)
        values = shared[codes, pick(rng, zipf(self.cardinality, self.value_alpha), len(codes))]
        return sparse_events(numbered(self.dimensions), sizes, codes, values)

    def _ranges(self, rng: np.random.Generator, codes: Ints, scrambled: Ints) -> tuple[Ints, Ints]:
        values = zipf(self.cardinality, self.value_alpha)
        equal = rng.random(len(codes)) < self.equality
        exact = scrambled[codes, pick(rng, values, len(codes))]
        widths = rng.integers(self.narrowest, self.widest + 1, size=len(codes))
        starts = rng.integers(0, self.cardinality - widths + 1)
        return np.where(equal, exact, starts), np.where(equal, exact, starts + widths - 1)


W_A: Final = Yardstick()
W_E: Final = Yardstick(equality=1, fewest_predicates=2, most_predicates=4)
W_B: Final = Yardstick(dimensions=20, alpha=0)
W_R: Final = Yardstick(equality=0, events=500)
