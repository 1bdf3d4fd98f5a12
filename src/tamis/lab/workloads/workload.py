"""What a generator returns: conditions and events."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

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
