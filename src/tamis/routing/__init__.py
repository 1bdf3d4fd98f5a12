"""What does one broker do with a message? State machines without I/O, one for each strategy."""

import tamis.routing.strategies  # noqa: F401 - registers them
from tamis.routing.broker import Broker, Capabilities
from tamis.routing.machine import Machine
from tamis.routing.registry import Strategy, make_strategy

__all__ = ["Broker", "Capabilities", "Machine", "Strategy", "make_strategy"]
