"""BE-Gen: conjunctions with a given matching probability (specs/002 §9.4)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np

from tamis.lab.workloads.conjunctions import Conjunctions, conjunctions, numbered
from tamis.lab.workloads.draws import Ints, distinct, subsets, zipf
from tamis.lab.workloads.events import SparseEvents, sparse_events
from tamis.lab.workloads.predicates import operators, true_of
from tamis.lab.workloads.workload import WorkloadSpec

#: Conjunctions derived at once.
_CHUNK = 1 << 17
#: So many pairs, of so many conjunctions and at least so many seeds, show how often they match by accident.
_PILOT_PAIRS = 1 << 20
_PILOT_CONJUNCTIONS = 1 << 16
_PILOT_SEEDS = 1000
#: How far rounding the number of seeds may move the matching probability.
_TOLERANCE = 0.05


class BeGen(WorkloadSpec, frozen=True, kw_only=True):
    """Conjunctions of `subscription_size` predicates over whole numbers, with a given matching probability.

    [ours] The thesis does not say how the probability is reached; independent draws cannot reach 0.1 % at
    30,000 dimensions. So there are about 1 / p seed events, and a conjunction is derived from one of them, drawn
    evenly: it takes some of that event's attributes, again by P(r) = C / r**alpha, and predicates true of their
    values. Published events are seed events. Conjunctions also match foreign seeds by accident; how often is
    measured first, and the number of seeds corrected for it. A probability below that is refused.

    Each conjunction has `equality * subscription_size` equalities, a fraction being rounded at random; its other
    operators are drawn evenly. Sizes are the same for all, values are uniform.
    """

    GRID: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "subscriptions": (300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000),
        "alpha": (0, 1, 2, 3, 4, 5),
        "dimensions": (100, 300, 1_000, 3_000, 10_000, 30_000),
        "cardinality": (3, 10, 30, 100, 300, 1_000),
        "subscription_size": (5, 10, 15, 20, 25, 30),
        "event_size": (30, 42, 54, 66, 78, 90),
        "matching_probability": (0.001, 0.005, 0.01, 0.05, 0.1, 0.5),
        "equality": (0, 0.2, 0.4, 0.6, 0.8, 1),
    }

    subscriptions: int = 1_000_000
    #: The thesis gives no number.
    events: int = 1_000
    alpha: float = 0
    dimensions: int = 100
    cardinality: int = 100
    subscription_size: int = 5
    event_size: int = 30
    matching_probability: float = 0.001
    equality: float = 0.2

    def shared(self, rng: np.random.Generator) -> SparseEvents:
        """Draw the seed events."""
        return self._seeds(rng, self._seed_count(rng))

    def asked(self, rng: np.random.Generator, shared: SparseEvents, count: int) -> Conjunctions:
        """Draw conjunctions."""
        return self._derived(rng, shared, count)[0]

    def told(self, rng: np.random.Generator, shared: SparseEvents, count: int) -> SparseEvents:
        """Draw events: every seed once before any comes again."""
        published = np.resize(rng.permutation(len(shared)), count)
        pairs = (published[:, None] * self.event_size + np.arange(self.event_size)).ravel()
        sizes = np.full(count, self.event_size)
        return sparse_events(shared.attributes, sizes, shared.codes[pairs], shared.values[pairs])

    def _seeds(self, rng: np.random.Generator, count: int) -> SparseEvents:
        return uniform_events(rng, count, self.event_size, self.dimensions, self.cardinality, self.alpha)

    def _seed_count(self, rng: np.random.Generator) -> int:
        """Return S such that 1 / S, one's own seed, plus accidental matches is the probability asked for."""
        asked = self.matching_probability
        seeds = self._seeds(rng, max(_PILOT_SEEDS, round(1 / asked)))
        trial, owners = self._derived(rng, seeds, _PILOT_CONJUNCTIONS)
        some = rng.integers(len(trial), size=_PILOT_PAIRS)
        foreign = (owners[some] + rng.integers(1, len(seeds), size=_PILOT_PAIRS)) % len(seeds)
        accident = float(trial.holds(seeds, some, foreign).mean())
        if accident >= asked:
            raise ValueError(
                f"a matching probability of {asked} cannot be reached: with these sizes and operators "
                f"{accident:.5f} match by accident; ask for more than that"
            )
        count = round((1 - accident) / (asked - accident))
        reached = 1 / count + (1 - 1 / count) * accident
        if abs(reached / asked - 1) > _TOLERANCE:
            raise ValueError(f"ask for a matching probability near one over a whole number, not {asked}")
        return count

    def _derived(self, rng: np.random.Generator, seeds: SparseEvents, count: int) -> tuple[Conjunctions, Ints]:
        """Return conjunctions and the seed of each."""
        size = self.subscription_size
        owners = rng.integers(len(seeds), size=count)
        log_weights = np.log(zipf(self.dimensions, self.alpha))[seeds.codes].reshape(len(seeds), self.event_size)
        pairs = np.concatenate(
            [
                subsets(rng, log_weights[some], size) + some[:, None] * self.event_size
                for some in np.array_split(owners, -(-count // _CHUNK))
            ]
        )
        wanted = np.floor(size * self.equality + rng.random(count)).astype(np.int64)
        equal = np.argsort(rng.random((count, size)), axis=1) < wanted[:, None]
        pairs = pairs.ravel()
        predicates = true_of(rng, operators(rng, equal.ravel()), seeds.values[pairs], self.cardinality)
        sizes = np.full(count, size)
        return conjunctions(seeds.attributes, sizes, seeds.codes[pairs], predicates), owners


def uniform_events(
    rng: np.random.Generator, count: int, size: int, dimensions: int, cardinality: int, alpha: float
) -> SparseEvents:
    """Return events of one size: attributes by P(r) = C / r**alpha, values uniform."""
    sizes = np.full(count, size)
    codes = distinct(rng, zipf(dimensions, alpha), sizes)
    values = rng.integers(cardinality, size=len(codes))
    return sparse_events(numbered(dimensions), sizes, codes, values)


#: The two default settings of the thesis, and the conjunctive part of its A-Tree experiments (specs/002 §9.5).
BE_GEN_DENSE: Final = BeGen()
BE_GEN_SPARSE: Final = BeGen(dimensions=30_000)
BE_GEN_A_TREE: Final = BeGen(dimensions=1_000, subscription_size=6, event_size=20)
