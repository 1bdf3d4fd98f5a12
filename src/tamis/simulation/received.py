"""An event that a client got, with what is known of its age."""

import msgspec

from tamis.routing.packets import Name


class Received(msgspec.Struct, frozen=True):
    """Who got which event and when, at most how many seconds after its publication, and whether that is in time."""

    client: Name
    event: Name
    time: float
    #: Infinite if nothing is known.
    age_bound: float
    #: True is always right; False may be a false alarm; None if no `max_age` was asked for.
    timely: bool | None
