"""Which layers brokers are in: one setting for a whole overlay, to be written down with it."""

import msgspec

from tamis.routing import Broker, Machine


class Healing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What keeps brokers right; None for what is not wanted."""

    def around(self, broker: Broker) -> Machine:
        """Return a broker inside of its layers."""
        return broker
