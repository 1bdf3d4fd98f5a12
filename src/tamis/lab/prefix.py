"""Filters and events for prefix forwarding, in the forms that its structures take (specs/004 §4, §9)."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import tamis
from tamis.lab.workloads import Spec, Workload, generate
from tamis.routing.prefix import Filter, filters


@dataclass(frozen=True, eq=False)
class Load:
    """Conjunctions as texts and as filters, and events. To make these is not what experiments time."""

    texts: list[str]
    filters: list[Filter]
    events: list[dict[str, Any]]


def load(spec: Spec[Workload], seed: int) -> Load:
    """Draw filters and events."""
    workload = generate(spec, seed)
    texts = [str(text) for text in workload.conditions.texts().to_pylist()]
    found = [each for text in texts for each in filters(tamis.parse(text))]
    assert len(found) == len(texts), "a condition is not one conjunction"
    return Load(texts, found, list(workload.events.rows()))


@contextmanager
def no_collection() -> Iterator[None]:
    """Let the garbage collector rest: it would go through a million nodes again and again while they become more."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()
