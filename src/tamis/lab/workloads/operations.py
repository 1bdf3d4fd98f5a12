"""A stream of subscribe and unsubscribe operations (specs/000 §5, Experiment C)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from tamis.lab.workloads.conjunctions import Conjunctions, conjunctions, numbered, ranges
from tamis.lab.workloads.draws import Flags, Ints
from tamis.lab.workloads.spec import Spec


@dataclass(frozen=True, eq=False)
class OperationStream:
    """Operations in order: where `subscribes`, subscription number `numbers` comes, elsewhere it goes.

    The condition with a subscription's number is in `conditions`; numbers count up as subscriptions come.
    """

    spec: Spec[Any]
    subscribes: Flags
    numbers: Ints
    conditions: Conjunctions

    def __len__(self) -> int:
        return len(self.numbers)

    def table(self) -> pa.Table:
        """Return the stream with columns `operation`, `subscription` and `condition`."""
        return pa.table(
            {
                "operation": pa.array(["unsubscribe", "subscribe"]).take(pa.array(self.subscribes.astype(np.int8))),
                "subscription": self.numbers,
                "condition": self.conditions.texts().take(pa.array(self.numbers)),
            }
        )


class CoverOperations(Spec[OperationStream], frozen=True, kw_only=True):
    """Boxes that come and go; each side lies between two uniform numbers in [0, 1].

    With the given probability an operation takes away one of the live subscriptions, each as likely; [O] with
    none alive it subscribes.
    """

    GRID: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "operations": (10_000, 20_000, 30_000, 40_000, 50_000),
        "unsubscribe_probability": (0, 0.1, 0.2, 0.3, 0.4),
        "attributes": (3, 4, 5, 6),
    }

    operations: int = 50_000
    unsubscribe_probability: float = 0.4
    attributes: int = 3

    def draw(self, rng: np.random.Generator) -> OperationStream:
        """Return the stream."""
        leaving = (rng.random(self.operations) < self.unsubscribe_probability).tolist()
        choices = rng.random(self.operations).tolist()
        subscribes, numbers = np.ones(self.operations, dtype=np.bool_), np.zeros(self.operations, dtype=np.int64)
        live: list[int] = []
        count = 0
        # Who is alive depends on every operation before, so this goes one by one.
        for step, (leaves, choice) in enumerate(zip(leaving, choices, strict=True)):
            if leaves and live:
                place = int(choice * len(live))
                subscribes[step], numbers[step] = False, live[place]
                live[place] = live[-1]
                live.pop()
            else:
                numbers[step] = count
                live.append(count)
                count += 1
        return OperationStream(self, subscribes, numbers, self._boxes(rng, count))

    def _boxes(self, rng: np.random.Generator, count: int) -> Conjunctions:
        ends = np.sort(rng.random((count * self.attributes, 2)), axis=1)
        codes = np.tile(np.arange(self.attributes), count)
        sizes = np.full(count, self.attributes)
        return conjunctions(numbered(self.attributes), sizes, codes, ranges(ends[:, 0], ends[:, 1]))
