"""Structures of value-based notification on the same values: what the experiments of specs/003 §4 have in common."""

import gc
from collections.abc import Mapping, Sequence
from time import process_time
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from tamis.lab.experiment import Figure, Row, Series, Table
from tamis.lab.workloads.draws import Floats, Ints
from tamis.notification import Structure, structure_class
from tamis.notification.structure import Row as Subscription

#: Events that a structure takes before it is the turn of the next: enough to find its data in the caches again.
CHUNK: Final = 500
#: Between the labels of neighbours on the circle of a radius, so that others fit in.
GAP: Final = 1 << 20
#: A time is flat if from the fewest subscriptions to the most it changes by no more than this.
FLAT: Final = 0.5

#: Said on every page with these radii, or with this radius.
DIFFERENT_FITTED: Final = (
    "Radii by N(25000, 50000) cut to [1, 200,000], values by AR1(400, 1, 1000). Fitted, because the paper does not "
    "say: radii lie on a grid of a quarter and each is kept once, so that of 100,000 drawn some 90,000 subscribe (with "
    "this the unicast row of Table 2 comes out); everybody is told the same value first (so its CN(r) row does)."
)
SAME_FITTED: Final = (
    "One radius, 51,000; values by AR1(500, 1, 800). Fitted, because the paper does not say: at the start centres lie "
    "by a normal law round the first value, with a standard deviation of 10,000, cut at half the radius."
)

#: What a server makes of an event: handles, an array of radius ranges, or ranges with arcs as they are sent.
Answer = Literal["affected", "radius_ranges", "ranges"]


class Entrant(NamedTuple):
    """A structure, and what it is asked for after each event."""

    structure: str
    answer: Answer


class Heat(NamedTuple):
    """What one race found; all but `wrong` are means for an event."""

    microseconds: Mapping[str, float]
    #: By structure, nodes or subscriptions looked at, where they are counted.
    visits: Mapping[str, float]
    affected: float
    ranges: float
    #: Answers of structures, lists and numbers of ranges, that brute force does not confirm.
    wrong: int


#: Number of subscriptions -> what the race of so many found.
Heats: TypeAlias = Mapping[int, Heat]


class Plain:
    """The meaning itself, on arrays (specs/003 §0): everybody is asked. It shares nothing with the structures."""

    def __init__(self, radii: Floats, centres: Floats) -> None:
        self.radii, self.centres = radii, centres.copy()
        #: By position: the place of the radius among all radii.
        self._order: Ints = np.unique(radii, return_inverse=True)[1]

    def update(self, value: float) -> Ints:
        """Return the positions of those whom a value affects, ascending, and move them."""
        affected = np.flatnonzero((value >= self.centres + self.radii) | (value <= self.centres - self.radii))
        self.centres[affected] = value
        return affected

    def ranges(self, positions: Ints) -> int:
        """Return how many ranges the radii at positions make, between which there is no other radius."""
        return int((np.diff(np.unique(self._order[positions])) > 1).sum()) + 1 if len(positions) else 0


def subscribed(radii: Floats, centres: Floats) -> list[Subscription]:
    """Return subscriptions whose handles are their positions; those of one radius are in the order of their centres."""
    columns = zip(radii.tolist(), centres.tolist(), strict=True)
    return [Subscription(place, r, r, centre, (place + 1) * GAP, 0) for place, (r, centre) in enumerate(columns)]


def loaded(name: str, rows: Sequence[Subscription], value: float) -> Structure:
    """Return a structure that holds subscriptions."""
    structure = structure_class(name)()
    structure.load(rows, value)
    return structure


def arriving(structure: Structure, radii: Floats, values: Floats) -> None:
    """Let values pass, and subscriptions come evenly between them, each after all there are already."""
    first, ends = len(structure), np.arange(1, len(values) + 1) * len(radii) // len(values)
    for value, begin, end in zip(values.tolist(), [0, *ends.tolist()], ends.tolist(), strict=False):
        structure.update(value)
        if begin < end:
            structure.add_many(range(first + begin, first + end), radii[begin:end], radii[begin:end])


def race(
    entrants: Mapping[str, Entrant], rows: Sequence[Subscription], value: float, values: Floats, judged: int
) -> Heat:
    """Time structures on values, in turns, but for the last `judged`, on which they are judged by brute force.

    Brute force has followed from the start: a structure that went wrong while it was timed is found out. As many
    values at the beginning are not timed either: they load or compile what was not needed yet. Times are processor
    times.
    """
    rows = sorted(rows)
    plain = Plain(np.array([row.must for row in rows]), np.array([row.centre for row in rows]))
    handles = np.array([row.handle for row in rows])
    first, timed, last = values[:judged], values[judged:-judged], values[-judged:]
    made: dict[str, Any] = {title: loaded(each.structure, rows, value) for title, each in entrants.items()}
    asked = {title: getattr(made[title], each.answer) for title, each in entrants.items()}
    spent = dict.fromkeys(made, 0.0)
    gc.collect()
    for each in first.tolist():
        plain.update(each)
        for title, structure in made.items():
            structure.update(each)
            asked[title]()
    for chunk in np.array_split(timed, max(1, len(timed) // CHUNK)):
        listed = chunk.tolist()
        for title, structure in made.items():
            update, ask = structure.update, asked[title]
            started = process_time()
            for each in listed:
                update(each)
                ask()
            spent[title] += process_time() - started
    affected = ranges = 0
    for each in timed.tolist():
        found = plain.update(each)
        affected, ranges = affected + len(found), ranges + plain.ranges(found)
    visits = dict.fromkeys(made, 0)
    wrong = 0
    for each in last.tolist():
        found = plain.update(each)
        expected, spans = handles[found], plain.ranges(found)
        for title, structure in made.items():
            structure.update(each)
            visits[title] += structure.visits
            wrong += not np.array_equal(np.sort(structure.affected()), expected)
            wrong += structure.case.ranges and structure.range_count != spans
    return Heat(
        {title: 1e6 * seconds / len(timed) for title, seconds in spent.items()},
        {entrants[title].structure: each / judged for title, each in visits.items() if each},
        affected / len(timed),
        ranges / len(timed),
        wrong,
    )


def wrong_row(heats: Sequence[Heats], judged: int) -> Row:
    """Return how many answers were wrong: none should be."""
    answers = sum(judged * len(heat.microseconds) for each in heats for heat in each.values())
    found = sum(heat.wrong for each in heats for heat in each.values())
    return Row(f"answers, of {answers:,} judged by brute force, that are wrong", found, 0, good="exact")


def slower_row(heats: Heats, slow: str, fast: str, where: str = "") -> Row:
    """Return at how many sizes one takes longer than another: the paper says at all."""
    count = sum(heat.microseconds[slow] > heat.microseconds[fast] for heat in heats.values())
    label = f"{where}sizes, of {len(heats)}, at which {slow} takes longer than {fast}"
    return Row(label, count, len(heats), good="exact")


def quotient_row(heats: Heats, slow: str, fast: str, where: str = "") -> Row:
    """Return how many times as long one takes as another with most subscriptions; the paper gives no figure."""
    times = heats[max(heats)].microseconds
    return Row(f"{where}{max(heats):,} subscriptions: {slow} / {fast}", times[slow] / times[fast])


def flat_row(heats: Heats, title: str) -> Row:
    """Return how a time grows with the number of subscriptions: not, says the paper."""
    fewest, most = min(heats), max(heats)
    grown = heats[most].microseconds[title] / heats[fewest].microseconds[title]
    return Row(f"{title}: time with {most:,} / {fewest:,} subscriptions", grown, 1.0, tolerance=FLAT)


def time_row(heats: Heats, title: str, where: str = "") -> Row:
    """Return what an event takes with most subscriptions."""
    return Row(f"{where}{max(heats):,} subscriptions: {title}", heats[max(heats)].microseconds[title], unit="µs")


def figure(panels: Mapping[str, Heats]) -> Figure:
    """Draw all times, a panel for each workload."""
    series = [
        Series(title, [float(size) for size in heats], [heat.microseconds[title] for heat in heats.values()], panel)
        for panel, heats in panels.items()
        for title in next(iter(heats.values())).microseconds
    ]
    return Figure("subscriptions", "server time for an event, µs", series, log_y=True)


def table(title: str, heats: Heats, ranges: str = "radius ranges") -> Table:
    """Return all times, with how many an event affects, in how many ranges."""
    names = list(next(iter(heats.values())).microseconds)
    return Table(
        f"µs for an event{title}",
        ["subscriptions", "affected", ranges, *names],
        [
            [f"{size:,}", heat.affected, heat.ranges, *(heat.microseconds[name] for name in names)]
            for size, heat in heats.items()
        ],
    )
