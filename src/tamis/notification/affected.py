"""Who is affected, said without listing them: ranges of radii, and arcs of labels (specs/003 F4 to F10).

These are what a content-driven network routes: a subscription knows its place, an event is sent as ranges, and the
network need not know any centre.
"""

import msgspec

from tamis.notification.law import Law


class Place(msgspec.Struct, frozen=True):
    """Where a subscription stands: it never changes by events, and its label only together with its epoch."""

    law: Law
    #: From how far away it may be told, and from how far it must be; equal where there is only one radius.
    may: float
    must: float
    label: int
    epoch: int
    #: Whether it is among those that may have two radii: such are in another order than those with one.
    loose: bool = False


class Arc(msgspec.Struct, frozen=True):
    """Those of the subscriptions of one radius that are affected: labels from `start` round to before `stop`.

    Labels are on a circle: where `stop` is not above `start`, the arc goes through its end (F7, MATCH).
    """

    may: float
    must: float
    start: int
    stop: int
    epoch: int

    def meets(self, place: Place) -> bool:
        """Say whether a subscription of this radius is on it; a label of another epoch is a `ValueError`."""
        if place.epoch != self.epoch:
            raise ValueError(f"the arc is of epoch {self.epoch}, but the label of {place.epoch}: it was relabelled")
        if self.start < self.stop:
            return self.start <= place.label < self.stop
        return place.label >= self.start or place.label < self.stop


class AffectedRange(msgspec.Struct, frozen=True):
    """A range of radii, both ends inside; everybody in it is affected, but for radii that have arcs.

    Both ends are radii of subscriptions that are affected. Between two ranges of one law there is somebody who is not.
    Where subscriptions have two radii, they are in the order of the first, then of the second.
    """

    law: Law
    low: float
    high: float
    low_must: float
    high_must: float
    arcs: tuple[Arc, ...] = ()
    #: Whether it is of those that may have two radii.
    loose: bool = False

    def meets(self, place: Place) -> bool:
        """Say whether a subscription is affected."""
        if (place.law, place.loose) != (self.law, self.loose):
            return False
        if not (self.low, self.low_must) <= (place.may, place.must) <= (self.high, self.high_must):
            return False
        arcs = [arc for arc in self.arcs if (arc.may, arc.must) == (place.may, place.must)]
        return not arcs or any(arc.meets(place) for arc in arcs)


class Shift(msgspec.Struct, frozen=True):
    """Labels from `low` to `high`, both inside, become greater by `by`."""

    low: int
    high: int
    by: int


class Relabelling(msgspec.Struct, frozen=True):
    """The labels of a radius change, all shifts at once, and from then on are of an epoch."""

    law: Law
    may: float
    must: float
    epoch: int
    shifts: tuple[Shift, ...]
    loose: bool = False

    def moved(self, place: Place) -> Place:
        """Return where a subscription of this radius stands from now on; one that is of this epoch already stays.

        A label that is older than the one before this is a `ValueError`: a relabelling in between was missed.
        """
        if place.epoch >= self.epoch:
            return place
        if place.epoch < self.epoch - 1:
            raise ValueError(f"the label is of epoch {place.epoch}, but it is relabelled to {self.epoch}")
        by = next((shift.by for shift in self.shifts if shift.low <= place.label <= shift.high), 0)
        return msgspec.structs.replace(place, label=place.label + by, epoch=self.epoch)
