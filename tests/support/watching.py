"""Histories of subscriptions and values, played to a structure and to the oracle side by side."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tamis.notification.law import Law
from tamis.notification.oracle import Oracle
from tamis.notification.structure import Row, Structure, structure_class

#: How many histories a test plays; fewer where kernels are not compiled.
EXAMPLES = int(os.environ.get("TAMIS_TEST_EXAMPLES", "20"))


class Together(Oracle):
    """The oracle for one pair of radii: everybody who may be told is, as soon as somebody must be (specs/003 F11)."""

    case = Oracle.case
    together = True


class Setting(NamedTuple):
    """A structure with its options."""

    name: str
    law: Law = "absolute"
    relaxed: bool = False
    loose: bool = False
    trim: bool = False

    def make(self) -> Structure:
        """Return a new structure."""
        return structure_class(self.name)(law=self.law, relaxed=self.relaxed, loose=self.loose, trim=self.trim)

    def oracle(self) -> Oracle:
        """Return the oracle that judges it."""
        case = structure_class(self.name).case
        kind = Together if case.radii == "same" and self.loose else Oracle
        relaxed = self.relaxed or case.radii == "different"
        return kind(law=self.law, relaxed=relaxed, loose=self.loose, trim=self.trim)

    @property
    def same(self) -> bool:
        """Whether all subscriptions have the same radii."""
        return structure_class(self.name).case.radii == "same"


#: Every structure with every law and option that it takes.
SETTINGS = [
    *(Setting("two-level", law) for law in ("absolute", "relative", "factor")),
    *(Setting("two-level", law, relaxed=True) for law in ("absolute", "relative")),
    *(Setting("two-level", law, loose=True) for law in ("absolute", "relative", "factor")),
    Setting("two-level", loose=True, trim=True),
    Setting("two-level", relaxed=True, loose=True, trim=True),
    *(Setting("radius-tree", law) for law in ("absolute", "relative", "factor")),
    Setting("radius-tree", "factor", loose=True),
    *(Setting("label-tree", law, loose=loose) for law in ("absolute", "factor") for loose in (False, True)),
    Setting("delta-tree"),
    *(Setting("radius-runs", law) for law in ("absolute", "relative", "factor")),
    *(Setting("scan", law) for law in ("absolute", "relative", "factor")),
    *(Setting("endpoints", law) for law in ("absolute", "relative", "factor")),
    *(Setting("centres", law) for law in ("absolute", "factor")),
]

#: What happens: so many come, with these radii; the one with this number goes; the value moves by so much; the state
#: is written down and read.
Step = tuple[str, Any]


def histories(steps: int = 40) -> st.SearchStrategy[list[Step]]:
    """Return histories in which exact hits are common."""
    come = st.tuples(
        st.just("come"), st.lists(st.tuples(st.integers(1, 12), st.integers(0, 2)), min_size=1, max_size=6)
    )
    go = st.tuples(st.just("go"), st.integers(0, 50))
    move = st.tuples(st.just("move"), st.sampled_from([0, 1, -1, 2, -2, 5, -5, 8, -8, 20, -20]))
    again = st.tuples(st.just("again"), st.none())
    return st.lists(st.one_of(come, go, move, move, move, again), max_size=steps)


def radii_of(setting: Setting, size: int, more: int) -> tuple[float, float]:
    """Return radii for two small numbers."""
    size, more = (6, 1) if setting.same else (size, more)
    unit = {"absolute": 1.0, "relative": 1 / 64, "factor": 1 / 64}[setting.law]
    must = size * (1 + more) if setting.loose else size
    base = 1.0 if setting.law == "factor" else 0.0
    return base + size * unit, base + must * unit


class Played(NamedTuple):
    """How things stand after a step; `moved` says whether that was a value."""

    structure: Structure
    oracle: Oracle
    moved: bool
    live: list[int]


def play(setting: Setting, steps: list[Step], start: float = 200.0) -> Iterator[Played]:
    """Play a history to a structure and to the oracle, and yield how both stand after each step."""
    structure, oracle = setting.make(), setting.oracle()
    live: list[int] = []
    fresh, value = 0, start
    for what, detail in steps:
        if what == "come":
            handles = list(range(fresh, fresh + len(detail)))
            fresh += len(detail)
            mays, musts = np.array([radii_of(setting, *each) for each in detail]).T.copy()
            assert structure.add_many(handles, mays, musts) == oracle.add_many(handles, mays, musts)
            live += handles
        elif what == "go" and live:
            handle = live.pop(detail % len(live))
            structure.remove(handle)
            oracle.remove(handle)
        elif what == "move":
            value = max(1.0, value + detail)
            structure.update(value)
            oracle.update(value)
        elif what == "again" and structure.value is not None:
            structure = reloaded(setting, structure)
        yield Played(structure, oracle, what == "move", live)


def reloaded(setting: Setting, structure: Structure) -> Structure:
    """Return another structure in the same state."""
    assert structure.value is not None
    other = setting.make()
    other.load(structure.rows(), structure.value)
    other.serial = structure.serial
    return other


def plain(rows: list[Row]) -> list[tuple[int, float, float, float]]:
    """Return rows without labels, by handle."""
    return sorted(row[:4] for row in rows)
