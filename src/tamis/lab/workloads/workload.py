"""What a generator returns: conditions and events."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.lab.workloads.events import Events
from tamis.lab.workloads.spec import Spec


class Conditions(ABC):
    """The conditions of a workload; a condition's number is its place."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def texts(self) -> pa.Array:
        """Return every condition as text: one array of strings, so 2 GiB at most."""

    @abstractmethod
    def columns(self) -> pa.Table:
        """Return one row per predicate of a conjunctive workload; `ValueError` if it is not conjunctive."""


@dataclass(frozen=True, eq=False)
class ArbitraryConditions(Conditions):
    """Conditions with any mixture of `and`, `or` and `not`: there is only their text."""

    written: pa.Array

    def __len__(self) -> int:
        return len(self.written)

    def texts(self) -> pa.Array:
        return self.written

    def columns(self) -> pa.Table:
        raise ValueError("these conditions are not conjunctions, so they have no columns; use texts()")


@dataclass(frozen=True, eq=False)
class Workload:
    """Conditions and the events to match them with, made from `spec`."""

    spec: Spec[Any]
    conditions: Conditions
    events: Events


class WorkloadSpec(Spec[Workload], frozen=True, kw_only=True):
    """A workload whose conditions do not depend on each other, nor do its events, given what all of them share.

    So any number of them can be drawn alone, and a large workload in blocks: see `blocks.py`.
    """

    subscriptions: int = 10_000
    events: int = 1_000

    def draw(self, rng: np.random.Generator) -> Workload:
        """Return the conditions and events."""
        shared = self.shared(rng)
        return Workload(self, self.asked(rng, shared, self.subscriptions), self.told(rng, shared, self.events))

    def shared(self, rng: np.random.Generator) -> Any:  # noqa: ARG002 - most share nothing
        """Draw what all conditions and events share, such as a vocabulary."""
        return None

    def asked(self, rng: np.random.Generator, shared: Any, count: int) -> Conditions:  # noqa: ARG002
        """Draw so many conditions."""
        raise TypeError(f"{type(self).__name__} does not say what is asked")

    def told(self, rng: np.random.Generator, shared: Any, count: int) -> Events:  # noqa: ARG002
        """Draw so many events."""
        raise TypeError(f"{type(self).__name__} does not say what is told")
