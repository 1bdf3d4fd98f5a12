"""What runs at one place of the world: a broker, or a broker inside of layers that keep it right."""

from typing import Protocol

from tamis.routing.messages import Action, Message
from tamis.routing.packets import Name


class Machine(Protocol):
    """A state machine without sockets, clock or chance: the simulator and the server run it."""

    @property
    def name(self) -> Name:
        """The broker's name."""

    def handle(self, message: Message, now: float) -> list[Action]:
        """Take a message at a time of this machine's clock; return what is to be done, in order."""

    def stored(self) -> int:
        """Return how many subscriptions are kept here."""

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
