"""Something between a broker and the world that keeps the broker right when the world is wrong."""

from tamis.routing import Broker, Machine
from tamis.routing.messages import Action, Message
from tamis.routing.packets import Name


class Layer:
    """A machine around another one. By itself it changes nothing: override `handle`.

    A layer may answer a message by itself, change it on its way in, and change what is answered on its way out. Its
    timers have names of their own, so that the machine inside never hears of them.
    """

    def __init__(self, inner: Machine) -> None:
        self.inner = inner

    @property
    def name(self) -> Name:
        """The broker's name."""
        return self.inner.name

    def handle(self, message: Message, now: float) -> list[Action]:
        """Take a message; return what is to be done, in order."""
        return self.inner.handle(message, now)

    def stored(self) -> int:
        """Return how many subscriptions are kept here."""
        return self.inner.stored()

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self.inner.check_invariants()


def broker_of(machine: Machine) -> Broker:
    """Return the broker inside of all layers."""
    while isinstance(machine, Layer):
        machine = machine.inner
    assert isinstance(machine, Broker)
    return machine
