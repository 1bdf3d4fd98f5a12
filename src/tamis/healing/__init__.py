"""What keeps it right when the world is wrong? Layers around brokers."""

from tamis.healing.healing import Healing
from tamis.healing.layer import Layer, broker_of

__all__ = ["Healing", "Layer", "broker_of"]
