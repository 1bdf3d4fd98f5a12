"""What keeps it right when the world is wrong? Layers around brokers."""

from tamis.healing.ages import Ages
from tamis.healing.healing import Healing
from tamis.healing.layer import Layer, broker_of
from tamis.healing.lease import Leases
from tamis.healing.recovery import Recovery
from tamis.healing.stabilise import Stabilise

__all__ = ["Ages", "Healing", "Layer", "Leases", "Recovery", "Stabilise", "broker_of"]
