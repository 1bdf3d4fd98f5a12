"""Display advertisements, imitated from the few figures known of a private data set (specs/002 §9.4, §9.5)."""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.lab.workloads.conjunctions import Operator, conjunctions, numbered
from tamis.lab.workloads.draws import Ints, distinct, pick, tilted, zipf
from tamis.lab.workloads.events import SparseEvents, sparse_events
from tamis.lab.workloads.predicates import true_of
from tamis.lab.workloads.text import composed, line, merged, repeated
from tamis.lab.workloads.workload import ArbitraryConditions, Conditions, WorkloadSpec

#: Targeting asks mostly for certain values; the shares are ours.
_OPERATORS: Final = {Operator.EQ: 0.4, Operator.IN: 0.4, Operator.NOT_IN: 0.1, Operator.BETWEEN: 0.1}
_AUDIENCE: Final = np.array([Operator.EQ, Operator.IN], np.int8)
_CHUNK = 1 << 17


class Ads(WorkloadSpec, frozen=True, kw_only=True):
    """Advertisements as conjunctions of 1 to 56 predicates, 8 on average; sessions as events of 20 attributes.

    [ours] Sizes follow a geometric law cut off at both ends. The popularity of attributes and of values is
    Zipf's, the same for advertisements and sessions. The matching probability is not known, hence not controlled.
    """

    subscriptions: int = 3_000_000
    #: The thesis gives no number.
    events: int = 1_000
    dimensions: int = 122
    fewest_predicates: int = 1
    most_predicates: int = 56
    mean_predicates: float = 8
    event_size: int = 20
    alpha: float = 1
    cardinality: int = 50
    value_alpha: float = 1

    def asked(self, rng: np.random.Generator, shared: None, count: int) -> Conditions:  # noqa: ARG002
        """Draw advertisements."""
        sizes = self.sizes(rng, count)
        codes = distinct(rng, zipf(self.dimensions, self.alpha), sizes)
        predicates = true_of(rng, _operators(rng, len(codes)), self._values(rng, len(codes)), self.cardinality)
        return conjunctions(numbered(self.dimensions), sizes, codes, predicates)

    def sizes(self, rng: np.random.Generator, count: int) -> Ints:
        """Draw how many predicates each advertisement has."""
        law = tilted(self.fewest_predicates, self.most_predicates, self.mean_predicates)
        return self.fewest_predicates + pick(rng, law, count)

    def told(self, rng: np.random.Generator, shared: None, count: int) -> SparseEvents:  # noqa: ARG002
        """Draw sessions."""
        sizes = np.full(count, self.event_size)
        codes = distinct(rng, zipf(self.dimensions, self.alpha), sizes)
        return sparse_events(numbered(self.dimensions), sizes, codes, self._values(rng, len(codes)))

    def texts(self, rng: np.random.Generator, chosen: npt.NDArray[np.int8]) -> pa.Array:
        """Draw predicates with the chosen operators as text, attributes repeating."""
        codes = pick(rng, zipf(self.dimensions, self.alpha), len(chosen))
        names = pa.array(numbered(self.dimensions)).take(pa.array(codes))
        return true_of(rng, chosen, self._values(rng, len(chosen)), self.cardinality).texts(names)

    def _values(self, rng: np.random.Generator, count: int) -> Ints:
        return pick(rng, zipf(self.cardinality, self.value_alpha), count)


class ArbitraryAds(Ads, frozen=True, kw_only=True):
    """Advertisements as arbitrary conditions: an audience (`=` or `in`) and alternatives, some of them negated.

    [ours] The A-Tree of the thesis takes 0.27 ms for an event and 1,392,196 advertisements, so an event cannot meet
    more than some thousands. Hence every advertisement asks for an audience first, and there are more values: an event
    meets about one advertisement in 350. This choice favours engines that skip what an event cannot meet. Without
    audience and with 50 values an event meets about one in twenty, and the lead of the A-Tree is far smaller.
    """

    subscriptions: int = 1_392_196
    cardinality: int = 1_000
    #: Whether the first predicate of each is an audience; otherwise all of them are alternatives.
    audience: bool = True
    #: Further copies of every advertisement. The thesis says that in its data they are many, but not how many.
    repeats: int = 0

    def asked(self, rng: np.random.Generator, shared: None, count: int) -> ArbitraryConditions:  # noqa: ARG002
        """Draw advertisements."""
        return ArbitraryConditions(repeated(rng, count, self.repeats, self._drawn))

    def _drawn(self, rng: np.random.Generator, count: int) -> pa.Array:
        sizes = self.sizes(rng, count)
        parts = [self._conditions(rng, some) for some in np.array_split(sizes, -(-len(sizes) // _CHUNK))]
        return pa.concat_arrays(parts)

    def _conditions(self, rng: np.random.Generator, sizes: Ints) -> pa.Array:
        if not self.audience:
            return composed(rng, self.texts(rng, _operators(rng, int(sizes.sum()))), sizes)
        audience = self.texts(rng, _AUDIENCE[pick(rng, np.ones(len(_AUDIENCE)), len(sizes))])
        more = sizes > 1
        others = sizes[more] - 1
        alternatives = composed(rng, self.texts(rng, _operators(rng, int(others.sum()))), others)
        return merged([~more, more], [audience.filter(~more), line(audience.filter(more), "and", alternatives)])


def _operators(rng: np.random.Generator, count: int) -> npt.NDArray[np.int8]:
    kinds = np.array(list(_OPERATORS), dtype=np.int8)
    return kinds[pick(rng, np.array(list(_OPERATORS.values())), count)]
