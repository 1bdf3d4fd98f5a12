"""The filter and event generator of XSiena (specs/004 §8, Table 9.1)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

import numpy as np

from tamis.lab.workloads.conjunctions import Conjunctions, Operator, Predicates, conjunctions, numbered
from tamis.lab.workloads.draws import Floats, Ints, distinct, pick
from tamis.lab.workloads.events import SparseEvents, sparse_events
from tamis.lab.workloads.workload import WorkloadSpec

Law = Literal["uniform", "normal", "pareto"]

_DEVIATION: Final = 0.3
_PARETO: Final = 3
_OPERATORS: Final = np.array([Operator.GT, Operator.GE, Operator.LT, Operator.LE, Operator.EQ], dtype=np.int8)


def law(kind: Law, count: int, largest: float) -> Floats:
    """Return the probability of each of `count` equal cells.

    [GAP] The normal law (mean 0, deviation 0.3) is drawn again outside (-1, 1), Pareto's (alpha 3, beta 1)
    above `largest`, and what remains is stretched over the cells; a cell has the density at its middle.
    """
    middles = (np.arange(count) + 0.5) / count
    if kind == "normal":
        weights = np.exp(-(((2 * middles - 1) / _DEVIATION) ** 2) / 2)
    elif kind == "pareto":
        weights = (1 + middles * (largest - 1)) ** -(_PARETO + 1.0)
    else:
        weights = np.ones(count)
    return np.asarray(weights / weights.sum())


class XSiena(WorkloadSpec, frozen=True, kw_only=True):
    """Filters and events over whole numbers, by the parameters of Table 9.1; operators > >= < <= = evenly.

    Names of a filter and of an event are different, so no filter contradicts itself. Names are a0, a1, ... instead of
    English words. The count of names drives the results and is not known for every experiment (specs/004 §11).
    """

    GRID: ClassVar[Mapping[str, tuple[Any, ...]]] = {"name_law": ("uniform", "normal", "pareto")}

    subscriptions: int = 10_000
    events: int = 1_000
    fewest_predicates: int = 2
    most_predicates: int = 8
    fewest_pairs: int = 2
    most_pairs: int = 12
    names: int = 112_505
    name_law: Law = "uniform"
    least_value: int = -50
    greatest_value: int = 50
    value_law: Law = "uniform"
    #: [GAP] Where the Pareto law is cut off; the results depend on it.
    x_max: float = 10

    def asked(self, rng: np.random.Generator, shared: None, count: int) -> Conjunctions:  # noqa: ARG002
        """Draw filters."""
        sizes = rng.integers(self.fewest_predicates, self.most_predicates + 1, size=count)
        codes = distinct(rng, law(self.name_law, self.names, self.x_max), sizes)
        chosen = _OPERATORS[rng.integers(len(_OPERATORS), size=len(codes))]
        values = self._values(rng, len(codes))
        low = values + (chosen == Operator.GT)
        high = values - (chosen == Operator.LT)
        predicates = Predicates(chosen, low, high, np.zeros(len(codes) + 1, dtype=np.int64), low[:0])
        return conjunctions(numbered(self.names), sizes, codes, predicates)

    def told(self, rng: np.random.Generator, shared: None, count: int) -> SparseEvents:  # noqa: ARG002
        """Draw events."""
        sizes = rng.integers(self.fewest_pairs, self.most_pairs + 1, size=count)
        codes = distinct(rng, law(self.name_law, self.names, self.x_max), sizes)
        return sparse_events(numbered(self.names), sizes, codes, self._values(rng, len(codes)))

    def _values(self, rng: np.random.Generator, count: int) -> Ints:
        cells = self.greatest_value - self.least_value + 1
        return self.least_value + pick(rng, law(self.value_law, cells, self.x_max), count)


#: Figures 9.1 to 9.4, one spec for each law of names and values. [ours] The thesis gives no sizes.
XSIENA_E3_UNIFORM: Final = XSiena()
XSIENA_E3_NORMAL: Final = XSiena(name_law="normal", value_law="normal")
XSIENA_E3_PARETO: Final = XSiena(name_law="pareto", value_law="pareto")
#: Figures 9.14 and 9.15; of the two laws the prose gives for values, the normal one.
XSIENA_E7: Final = XSiena(
    most_predicates=5,
    most_pairs=5,
    names=20_000,
    name_law="pareto",
    least_value=0,
    greatest_value=200_000,
    value_law="normal",
)
#: Figure 9.16. [ours] The range of values is that of E7.
XSIENA_E9: Final = XSiena(
    subscriptions=5_000,
    events=10_000,
    fewest_predicates=1,
    most_predicates=1,
    fewest_pairs=1,
    most_pairs=10,
    names=2_000,
    name_law="pareto",
    least_value=0,
    greatest_value=200_000,
    value_law="normal",
)
