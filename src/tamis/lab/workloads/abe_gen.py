"""ABE-Gen: arbitrary Boolean expressions as n-ary trees (specs/002 §9.5)."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from tamis.lab.workloads.be_gen import uniform_events
from tamis.lab.workloads.conjunctions import numbered
from tamis.lab.workloads.draws import Ints, offsets_of, pick, zipf
from tamis.lab.workloads.events import SparseEvents
from tamis.lab.workloads.predicates import operators, true_of
from tamis.lab.workloads.text import joined, line, merged, repeated
from tamis.lab.workloads.workload import ArbitraryConditions, WorkloadSpec

#: Trees written at once.
_CHUNK = 1 << 14


class Logic(enum.IntEnum):
    """The operators of an inner node."""

    AND = 0
    OR = 1
    NOT = 2
    XOR = 3
    XNOR = 4


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees of one depth: for each level of inner nodes, from the roots, the operators and child counts."""

    levels: tuple[tuple[Ints, Ints], ...]
    leaves: int

    def texts(self, leaves: pa.Array) -> pa.Array:
        """Write the trees, given the text of each leaf."""
        texts = leaves
        for depth, (logic, sizes) in enumerate(reversed(self.levels)):
            bracketed = line("(", texts, ")", separator="")
            many = texts if depth == 0 else bracketed
            masks = [logic == each for each in Logic]
            joins = [
                (many, "", " and "),
                (many, "", " or "),
                (bracketed, "not ", ""),
                (bracketed, "", " <> "),
                (bracketed, "", " = "),
            ]
            parts = []
            for mask, (children, before, between) in zip(masks, joins, strict=True):
                text = joined(children.filter(pa.array(np.repeat(mask, sizes))), offsets_of(sizes[mask]), between)
                parts.append(line(before, text, separator=""))
            texts = merged(masks, parts)
        return texts


class AbeGen(WorkloadSpec, frozen=True, kw_only=True):
    """Trees of and/or/not/xor/xnor over predicates; every inner node draws its operator alone.

    `and` and `or` have `children` children, `not` one, `xor` and `xnor` two. [fix] The root has depth 1,
    so depth 3 is two levels of operators. `repeats` further copies of every expression are among the
    `subscriptions`, in random order. [ours] Leaves are drawn as in BE-Gen, each true of a random value;
    there is no control of the matching probability.
    """

    GRID: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "subscriptions": (30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
        "depth": (1, 2, 3, 4, 5, 6),
        "children": (2, 4, 6, 8, 10, 12),
        "repeats": (0, 1, 2, 3, 4, 5),
        "alpha": (0, 1, 2, 3, 4, 5),
        "dimensions": (100, 300, 1_000, 3_000, 10_000, 30_000),
        "cardinality": (3, 10, 30, 100, 300, 1_000),
        "event_size": (5, 10, 15, 20, 25, 30),
    }

    subscriptions: int = 1_000_000
    #: The thesis gives no number.
    events: int = 1_000
    #: The shares of and, or, not, xor, xnor.
    mix: tuple[float, float, float, float, float] = (0.4, 0.4, 0.1, 0.05, 0.05)
    depth: int = 3
    children: int = 4
    repeats: int = 0
    alpha: float = 0
    dimensions: int = 1_000
    cardinality: int = 100
    event_size: int = 20
    #: As in BE-Gen; not stated for ABE-Gen.
    equality: float = 0.2

    def asked(self, rng: np.random.Generator, shared: None, count: int) -> ArbitraryConditions:  # noqa: ARG002
        """Draw expressions."""
        return ArbitraryConditions(repeated(rng, count, self.repeats, self._drawn))

    def _drawn(self, rng: np.random.Generator, count: int) -> pa.Array:
        return pa.concat_arrays([self._texts(rng, min(_CHUNK, count - first)) for first in range(0, count, _CHUNK)])

    def told(self, rng: np.random.Generator, shared: None, count: int) -> SparseEvents:  # noqa: ARG002
        """Draw events."""
        return uniform_events(rng, count, self.event_size, self.dimensions, self.cardinality, self.alpha)

    def grow(self, rng: np.random.Generator, trees: int) -> Forest:
        """Draw the shapes of so many trees."""
        arity = np.array([self.children, self.children, 1, 2, 2])
        levels = []
        nodes = trees
        for _ in range(self.depth - 1):
            logic = pick(rng, np.array(self.mix), nodes)
            sizes = arity[logic]
            levels.append((logic, sizes))
            nodes = int(sizes.sum())
        return Forest(tuple(levels), nodes)

    def _texts(self, rng: np.random.Generator, trees: int) -> pa.Array:
        forest = self.grow(rng, trees)
        codes = pick(rng, zipf(self.dimensions, self.alpha), forest.leaves)
        chosen = operators(rng, rng.random(forest.leaves) < self.equality)
        values = rng.integers(self.cardinality, size=forest.leaves)
        predicates = true_of(rng, chosen, values, self.cardinality)
        return forest.texts(predicates.texts(pa.array(numbered(self.dimensions)).take(pa.array(codes))))
