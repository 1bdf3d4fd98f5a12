"""Who is affected, as plain events, and who one is, as plain conditions (specs/003 §3, "reformulation").

So any content-based network can tell subscriptions to a value, though it knows nothing of values and centres. Ranges of
radii and arcs of labels are published as events; a subscription asks by its place for those that concern it. What it
asks for does not change by events. Exactly the subscriptions that an update affects get one of its events, each one.

An event of an update carries, besides `item`, `update` and `value`:

- `kind, low, high, partial`: all radii from `low` to `high` but the `partial` ones, of which only arcs are affected;
  where there may be two radii, these are the least and greatest first one, `low_must` and `high_must` the second;
- `kind, radius, epoch, first, last`: of one radius, the labels from `first` to `last`. An arc through the end of the
  labels is two events, because conditions know no circle.

When labels change, that is an event too: `kind, radius, relabelled, lows, highs, steps`. Whoever has this radius asks
anew, by its new label, and nobody else does. A condition on labels names their epoch: an arc of another epoch reaches
nobody, rather than the wrong ones.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tamis.language.values import literal_text
from tamis.notification.affected import AffectedRange, Place, Relabelling, Shift
from tamis.notification.labels import TOP
from tamis.notification.law import Law
from tamis.notification.wanted import Id

Content = dict[str, Any]


def range_condition(item: Id, place: Place, arcs: bool = True) -> str:
    """Return what a subscription asks for because of its radius.

    Without `arcs` it is one of those that share a centre with all of their radius (`relaxed`), of which never only a
    part is affected.
    """
    may, must = literal_text(place.may), literal_text(place.must)
    if place.loose:
        low = f"(low < {may} or low = {may} and low_must <= {must})"
        high = f"(high > {may} or high = {may} and high_must >= {must})"
    else:
        low, high = f"low <= {may}", f"high >= {may}"
    whole = f"{_begin(item, place)} and {low} and {high}"
    return f"{whole} and not array_contains(partial, {literal_text(_name(place))})" if arcs else whole


def label_condition(item: Id, place: Place) -> str:
    """Return what a subscription asks for because of its label, as long as that is of its epoch."""
    radius = literal_text(_name(place))
    return (
        f"{_begin(item, place)} and radius = {radius} and epoch = {place.epoch} "
        f"and first <= {place.label} and last >= {place.label}"
    )


def relabelling_condition(item: Id, place: Place) -> str:
    """Return what a subscription asks for in order to learn of new labels."""
    return f"{_begin(item, place)} and radius = {literal_text(_name(place))} and relabelled > 0"


def advertisement(item: Id) -> str:
    """Return what the server of an item announces: everything that is published here."""
    return f"item = {literal_text(item)}"


def events_of(item: Id, update: int, value: float, ranges: Iterable[AffectedRange]) -> list[Content]:
    """Return an update as events; `update` is its number, by which one tells what is old."""
    found: list[Content] = []
    for each in ranges:
        start: Content = {"item": item, "update": update, "value": value, "kind": _kind(each.law, each.loose)}
        partial = [_name(arc) for arc in each.arcs]
        # Of one radius alone that is affected in part, the arc says everything.
        if not partial or (each.low, each.low_must) != (each.high, each.high_must):
            ends: Content = {"low": each.low, "high": each.high, "partial": partial}
            if each.loose:
                ends |= {"low_must": each.low_must, "high_must": each.high_must}
            found.append(start | ends)
        for arc in each.arcs:
            straight = arc.start < arc.stop
            parts = [(arc.start, arc.stop - 1)] if straight else [(arc.start, TOP), (0, arc.stop - 1)]
            named = {"radius": _name(arc), "epoch": arc.epoch}
            found += [start | named | {"first": first, "last": last} for first, last in parts if first <= last]
    return found


def relabelling_event(item: Id, relabelling: Relabelling) -> Content:
    """Return new labels as an event."""
    return {
        "item": item,
        "kind": _kind(relabelling.law, relabelling.loose),
        "radius": _name(relabelling),
        "relabelled": relabelling.epoch,
        "lows": [each.low for each in relabelling.shifts],
        "highs": [each.high for each in relabelling.shifts],
        "steps": [each.by for each in relabelling.shifts],
    }


def relabelled(place: Place, event: Mapping[str, Any]) -> Place:
    """Return where a subscription stands after an event that `relabelling_condition` asked for."""
    columns = zip(event["lows"], event["highs"], event["steps"], strict=True)
    shifts = tuple(Shift(*each) for each in columns)
    return Relabelling(place.law, place.may, place.must, event["relabelled"], shifts, place.loose).moved(place)


def _begin(item: Id, place: Place) -> str:
    return f"item = {literal_text(item)} and kind = {literal_text(_kind(place.law, place.loose))}"


def _kind(law: Law, loose: bool) -> str:
    """Return what keeps those apart that are not in one order."""
    return f"{law}, loose" if loose else law


def _name(radii: Any) -> str:
    """Return the radius of a place, an arc or a relabelling as text: one name, also where it is two numbers."""
    return repr(radii.must) if radii.may == radii.must else f"{radii.may!r} to {radii.must!r}"
