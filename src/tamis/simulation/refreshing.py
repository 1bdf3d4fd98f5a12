"""Clients that say again and again what they want, so that brokers with leases do not forget it (specs/004 §7)."""

from typing import TypeAlias

from tamis.routing.conditions import asked, canonical
from tamis.routing.messages import Advertise, Subscribe, Unadvertise, Unsubscribe
from tamis.routing.packets import Name
from tamis.simulation.world import World

_Said: TypeAlias = Subscribe | Advertise


class Refreshing:
    """What all clients have said and not taken back, and where. Each says it again once in a period.

    That goes on for ever in the background: an overlay in which nothing else happens is quiet.
    """

    def __init__(self, world: World, period: float) -> None:
        self._world = world
        self._period = period
        self._said: dict[Name, dict[object, _Said]] = {}
        self._home: dict[Name, Name] = {}

    def note(self, broker: Name, message: Subscribe | Unsubscribe | Advertise | Unadvertise) -> None:
        """Note what a client at a broker said."""
        key = _key(message)
        if isinstance(message, Unsubscribe | Unadvertise):
            self._said.get(message.client, {}).pop(key, None)
            return
        if message.client not in self._said:
            self._said[message.client] = {}
            self._wait(message.client, self._said[message.client], self._world.now, 1)
        self._said[message.client][key] = message
        self._home[message.client] = broker

    def leave(self, client: Name) -> None:
        """Let a client say nothing any more."""
        self._said.pop(client, None)
        self._home.pop(client, None)

    def _wait(self, client: Name, said: dict[object, _Said], since: float, number: int) -> None:
        self._world.at(
            since + number * self._period, lambda: self._repeat(client, said, since, number), background=True
        )

    def _repeat(self, client: Name, said: dict[object, _Said], since: float, number: int) -> None:
        # One who left and came back is another client.
        if self._said.get(client) is not said:
            return
        if self._home[client] in self._world.nodes:
            for message in list(said.values()):
                self._world.tell(self._home[client], message, background=True)
        self._wait(client, said, since, number + 1)


def _key(message: Subscribe | Unsubscribe | Advertise | Unadvertise) -> object:
    """Return what makes a message the same as another, however they are spelt."""
    if isinstance(message, Subscribe | Unsubscribe):
        return asked(message.condition)
    return canonical(message.condition), "advert"
