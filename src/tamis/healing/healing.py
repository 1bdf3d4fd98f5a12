"""Which layers brokers are in: one setting for a whole overlay, to be written down with it."""

import msgspec

from tamis.healing.ages import Ages, AgesLayer
from tamis.healing.lease import Leases
from tamis.healing.lease_layer import LeaseLayer
from tamis.healing.recovery import Recovery, RecoveryLayer
from tamis.healing.stabilise import Stabilise, StabiliseLayer
from tamis.routing import Broker, Machine


class Healing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What keeps brokers right; None for what is not wanted."""

    leases: Leases | None = None
    stabilise: Stabilise | None = None
    recovery: Recovery | None = None
    ages: Ages | None = None

    def __post_init__(self) -> None:
        if self.leases is not None and self.leases.extension != "none" and self.ages is None:
            raise ValueError(f"leases with extension {self.leases.extension!r} need ages: set `ages`, too")

    def around(self, broker: Broker, boot: int) -> Machine:
        """Return a broker inside of its layers. `boot` is a number that no earlier start of this broker had."""
        machine: Machine = broker
        if self.leases is not None:
            machine = LeaseLayer(machine, self.leases)
        if self.stabilise is not None or self.recovery is not None:
            stable = StabiliseLayer(machine, self.stabilise or Stabilise(), boot, rounds=self.stabilise is not None)
            machine = stable if self.recovery is None else RecoveryLayer(stable, self.recovery)
        if self.ages is not None:
            machine = AgesLayer(machine, self.ages, boot)
        return machine
