"""What do weaker promises cost a subscriber? The ways of Shah et al. beside ours (specs/003 F14)."""

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.watching import DIFFERENT_FITTED, loaded, subscribed
from tamis.lab.workloads.draws import Floats
from tamis.lab.workloads.moving import DIFF_RAD_SERIES, EVENTS, START, ar1, diff_radii
from tamis.notification.weaker import Violations, Way, Weaker

SIZES: Final[dict[Scale, tuple[int, ...]]] = {Scale.QUICK: (200, 500), Scale.FULL: (2_000, 5_000, 10_000)}
RUNS: Final = {Scale.QUICK: 400, Scale.FULL: EVENTS}
OURS, LARGEST = "ours", "up to the largest radius"
#: How many a subscriber serves in a tree; with one it is a chain.
FANOUTS: Final = (1, 4, 16)
#: Name -> the way, and how many each serves.
WAYS: Final[dict[str, tuple[Way, int]]] = {LARGEST: ("largest", 1)}
for _fanout in FANOUTS:
    _tree = "chain" if _fanout == 1 else f"tree of {_fanout}"
    WAYS[f"from parents, {_tree}"] = ("parents", _fanout)
    WAYS[f"pseudo-values, {_tree}"] = ("pseudo", _fanout)

#: Number of subscriptions -> way -> what it did.
Found: TypeAlias = Mapping[int, Mapping[str, Violations]]


def run(context: Context) -> Outcome:
    """Let the value move, and count what our meaning forbids."""
    sizes, events = SIZES[context.scale], RUNS[context.scale]
    total, done = len(sizes) * (1 + len(WAYS)), 0
    values = ar1(*DIFF_RAD_SERIES, START, events, context.seed)
    found: dict[int, dict[str, Violations]] = {}
    for size in sizes:
        radii = diff_radii(size, context.seed)
        context.progress(done, total)
        found[size] = {OURS: _ours(radii, values)}
        done += 1
        for name, (way, fanout) in WAYS.items():
            context.progress(done, total)
            weaker = Weaker(way, radii, START, fanout)
            for value in values.tolist():
                weaker.update(value)
            found[size][name] = weaker.violations()
            done += 1
    context.progress(total, total)
    return Outcome(
        rows=_rows(found, events),
        figure=Figure("subscriptions", "notifications for an event", _series(found, events), log_y=True),
        notes=_notes(events),
        tables=[_table(size, each, events) for size, each in found.items()],
    )


def _ours(radii: Floats, values: Floats) -> Violations:
    """Count for ours what is counted for the others: by whom it tells, and by nothing that it knows."""
    structure = loaded("radius-runs", subscribed(radii, np.full(len(radii), START)), START)
    centres = np.full(len(radii), START)
    told = needless = missed = 0
    for value in values.tolist():
        structure.update(value)
        # Handles are positions.
        listed = structure.affected()
        told += len(listed)
        needless += int((np.abs(value - centres[listed]) < radii[listed]).sum())
        centres[listed] = value
        missed += int((np.abs(value - centres) >= radii).sum())
    # Whoever is told is told the value itself.
    return Violations(told, needless, 0, missed)


def _rows(found: Found, events: int) -> list[Row]:
    size = max(found)
    each = found[size]
    ours = each[OURS]
    rows = [
        Row(f"{size:,} subscriptions, ours: needless notifications", ours.needless, 0, good="exact"),
        Row(f"{size:,} subscriptions, ours: invented values", ours.invented, 0, good="exact"),
        Row(f"{size:,} subscriptions, ours: missed", ours.missed, 0, good="exact"),
        Row(f"{size:,} subscriptions, ours: notifications for an event", ours.told / events),
    ]
    for name in WAYS:
        other = each[name]
        rows += [
            Row(f"{size:,} subscriptions, {name}: notifications / ours", other.told / ours.told),
            Row(f"{size:,} subscriptions, {name}: needless", 100 * other.needless / other.told, unit="%"),
        ]
        if WAYS[name][0] == "pseudo":
            rows.append(Row(f"{size:,} subscriptions, {name}: invented", 100 * other.invented / other.told, unit="%"))
    missed = sum(other.missed for each in found.values() for other in each.values())
    return [*rows, Row("left a radius or more away from the value, all ways and sizes", missed, 0, good="exact")]


def _series(found: Found, events: int) -> list[Series]:
    return [
        Series(name, [float(size) for size in found], [each[name].told / events for each in found.values()])
        for name in [OURS, *WAYS]
    ]


def _notes(events: int) -> list[str]:
    return [
        DIFFERENT_FITTED,
        f"{events:,} events. A notification is needless if the value was still inside of the subscriber's interval, a "
        "value is invented if it was never published, and somebody is missed whose last value is a radius or more from "
        "the true one. The paper gives no numbers: it says that the first two ways may tell needlessly, and that "
        "pseudo-values are values that never were.",
        "The ways keep within all radii, which is all that they promise. 'Up to the largest radius' tells everybody up "
        "to the largest radius that is affected. In a tree, smaller radii serve larger ones, and who is told tells "
        "those that it serves whose value differs from its own by more than their radii do.",
        "The paper leaves the tree open. Here each serves the next so many in the order of radii. The chain is the "
        "worst one: neighbours in it have nearly equal radii, so nearly everything is passed on. How to choose "
        "pseudo-values is open, too: here, half as far from the parent's value as allowed.",
        "Who is told too early has a new centre, and is told the next time early or late: needless notifications take "
        "the place of some that ours sends. So a broad tree, in which each decides nearly for itself, comes near to "
        "our total, but it still tells many of them at the wrong moment.",
    ]


def _table(size: int, each: Mapping[str, Violations], events: int) -> Table:
    return Table(
        f"{size:,} subscriptions, for an event",
        ["way", "notifications", "needless", "invented values", "missed"],
        [
            [name, *(count / events for count in (found.told, found.needless, found.invented, found.missed))]
            for name, found in each.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    id="003-weaker",
    title="Weaker promises",
    source="specs/003 F14, §2.3 of the paper (L108-117)",
    setup="A value moves; subscribers with different radii are told in ways that promise less, and in ours.",
    run=run,
)
