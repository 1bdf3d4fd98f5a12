"""MICS routing: brokers know of each other's subscriptions only by runs on a Hilbert curve (specs/001 F12).

A cell of the curve is a range of values of each axis. Events are told apart only by their cells, so that more may be
sent than wanted, never less; the last broker compares an event with the conditions themselves. Every condition has a
box: attributes that are no axis, and conditions that are no box, make it larger.

The paper suppresses against the subscriptions of the same neighbour and, elsewhere, against those sent to the next one;
this is the latter, which suppresses more.
"""

from collections.abc import Collection, Iterable

import msgspec
import numpy as np

from tamis.covering.ranges import ContentSpace, RangeTable
from tamis.geometry import curve
from tamis.geometry.countmap import CountMap
from tamis.geometry.leaves import GREATEST, Runs
from tamis.geometry.runset import RunSet
from tamis.routing.axes import Axes
from tamis.routing.broker import Capabilities, Options
from tamis.routing.mendable import Mendable
from tamis.routing.packets import AnyPacket, Event, Name, Plain, Ranges
from tamis.routing.registry import register


class MicsOptions(Options, frozen=True, kw_only=True):
    """The axes of the curve: attributes with the least and the greatest number that matters."""

    axes: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    #: An axis has 2 ** bits cells.
    bits: int = 8
    #: A box with more runs is rounded up.
    max_runs: int = 64
    #: Runs that are less than this apart are joined.
    theta: int = 1

    def __post_init__(self) -> None:
        for attribute, (low, high) in self.axes.items():
            if not low < high:
                raise ValueError(f"axis {attribute!r} goes from {low} to {high}: it should go up")
        if not 1 <= self.bits <= 32:
            raise ValueError(f"an axis has 1 to 32 bits, not {self.bits}")
        if len(self.axes) * self.bits > 63:
            raise ValueError(f"{len(self.axes)} axes of {self.bits} bits are more than 63 bits together")
        if self.max_runs < 1 or self.theta < 1:
            raise ValueError(f"max_runs and theta are at least 1: {self.max_runs}, {self.theta}")


@register(
    "mics",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="subscriptions travel as runs on a Hilbert curve through the `axes` that are given",
    ),
)
class Mics(Mendable):
    """Has runs for each neighbour: those behind it, and how many sides cover each place of what it was told."""

    Settings = MicsOptions
    speaks = (Plain, Ranges)

    def __init__(self, name: Name, options: MicsOptions) -> None:
        super().__init__(name, options)
        self._axes = Axes(options.axes, options.bits)
        self._space = ContentSpace(curve("hilbert", len(self._axes), options.bits), max_runs=options.max_runs)
        self._theta = options.theta
        self._own = RangeTable(self._space, options.theta)
        self._heard: dict[Name, RunSet] = {}
        self._told: dict[Name, CountMap] = {}

    def on_subscribe(self, client: Name, condition: str) -> None:  # noqa: ARG002
        cells = self._axes.box(condition)
        if cells is not None and condition not in self._own:
            self._spread(None, None, self._own.add(condition, *cells))

    def on_unsubscribe(self, client: Name, condition: str) -> None:  # noqa: ARG002
        if condition in self._own and condition not in self.clients:
            self._spread(None, self._own.remove(condition), None)

    def on_neighbour_up(self, neighbour: Name) -> None:
        self._heard[neighbour] = RunSet()
        self._told[neighbour] = self._counts_for(neighbour)
        come = _pairs(_covered(self._told[neighbour]))
        if come:
            self.send(neighbour, Ranges((), come))

    def on_neighbour_down(self, neighbour: Name) -> None:
        del self._told[neighbour]
        self._spread(neighbour, self._heard.pop(neighbour).runs(), None)

    def on_publish(self, client: Name, event: Event) -> None:  # noqa: ARG002
        self._route(event, None)

    def on_packet(self, neighbour: Name, packet: Plain | Ranges) -> None:
        if isinstance(packet, Plain):
            self._route(packet.event, neighbour)
            return
        heard = self._heard[neighbour]
        # Only what truly goes and comes is spread: tables may have been mended since the neighbour counted.
        gone = heard.cut(*_runs(packet.remove))
        come = heard.insert(*_runs(packet.add))
        self._spread(neighbour, gone, come)

    def stored(self) -> int:
        return len(self.clients)

    def check_invariants(self) -> None:
        super().check_invariants()
        self._own.check_invariants()
        assert self._heard.keys() == self._told.keys() == self.neighbours.keys()
        for neighbour in self.neighbours:
            self._heard[neighbour].check_invariants()
            self._told[neighbour].check_invariants()

    # --- what can be mended ------------------------------------------------------------------------------

    def own(self) -> list[str]:
        return _texts(self._own_table().runs())

    def held(self, neighbour: Name) -> list[str]:
        return _texts(self._heard[neighbour].runs())

    def hold(self, neighbour: Name, items: Iterable[str]) -> None:
        self._heard[neighbour] = _union(items)

    def owed(self, neighbour: Name) -> list[str]:
        return _texts(_covered(self._counts_for(neighbour, self._own_table())))

    def told(self, neighbour: Name) -> list[str]:
        return _texts(_covered(self._told[neighbour]))

    def derive(self) -> None:
        self._own = self._own_table()
        self._heard = {neighbour: self._heard[neighbour] for neighbour in self.neighbours}
        self._told = {neighbour: self._counts_for(neighbour) for neighbour in self.neighbours}

    def is_item(self, text: str) -> bool:
        first, _, last = text.partition("-")
        if not (first.isdecimal() and last.isdecimal() and text.isascii()):
            return False
        return text == f"{int(first)}-{int(last)}" and int(first) <= int(last) < 1 << self._space.curve.key_bits

    def news(self, gone: Collection[str], come: Collection[str]) -> list[AnyPacket]:
        return [Ranges(_pairs(_union(gone).runs()), _pairs(_union(come).runs()))]

    def after(self, held: Collection[str], packet: AnyPacket) -> list[str]:
        runs = _union(held)
        if isinstance(packet, Ranges):
            runs.cut(*_runs(packet.remove))
            runs.insert(*_runs(packet.add))
        return _texts(runs.runs())

    def agrees(self, held: Collection[str], there: Collection[str], here: Collection[str]) -> bool:  # noqa: ARG002
        return _texts(_union(held).runs()) == _texts(_union(there).runs())

    def _own_table(self) -> RangeTable:
        """Return the runs of local clients, found anew."""
        table = RangeTable(self._space, self._theta)
        for condition in self.clients:
            cells = self._axes.box(condition)
            if cells is not None:
                table.add(condition, *cells)
        return table

    def _counts_for(self, neighbour: Name, own: RangeTable | None = None) -> CountMap:
        """Return how many sides but one cover each place."""
        counts = CountMap()
        counts.add(*(self._own if own is None else own).runs())
        for side, runs in self._heard.items():
            if side != neighbour:
                counts.add(*runs.runs())
        return counts

    def _spread(self, source: Name | None, gone: Runs | None, come: Runs | None) -> None:
        """Tell all neighbours but one what is covered now and was not, and the reverse."""
        for neighbour, counts in self._told.items():
            if neighbour != source:
                # Counted up before down, what stays covered is not spoken of.
                more = _pairs(counts.add(*come)) if come is not None else ()
                less = _pairs(counts.remove(*gone)) if gone is not None else ()
                if more or less:
                    self.send(neighbour, Ranges(less, more))

    def _route(self, event: Event, source: Name | None) -> None:
        self.record("matches")
        self.deliver(event, self.clients.interested(event.content))
        (place,) = self._space.keys(self._axes.cells(event.content)[None]).tolist()
        for neighbour, runs in self._heard.items():
            if neighbour != source and runs.match(place):
                self.send(neighbour, Plain(event))


def _pairs(runs: Runs) -> tuple[tuple[int, int], ...]:
    starts, ends = runs
    return tuple(zip(starts.tolist(), ends.tolist(), strict=True))


def _runs(pairs: tuple[tuple[int, int], ...]) -> Runs:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


def _covered(counts: CountMap) -> Runs:
    """Return the places that any side covers."""
    starts, many = counts.segments()
    ends = np.append(starts[1:] - 1, GREATEST)
    found = RunSet()
    found.insert(starts[many > 0], ends[many > 0])
    return found.runs()


def _texts(runs: Runs) -> list[str]:
    return [f"{first}-{last}" for first, last in _pairs(runs)]


def _union(items: Iterable[str]) -> RunSet:
    """Return the places of some items."""
    found = RunSet()
    for item in items:
        first, last = map(int, item.split("-"))
        found.insert(*_runs(((first, last),)))
    return found
