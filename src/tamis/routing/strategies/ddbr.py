"""Destination-based routing: events carry the list of brokers that want them (D-DBR, specs/002 §3.2)."""

from typing import Annotated, Any, Final

import msgspec

from tamis.routing.broker import Capabilities
from tamis.routing.destinations.cluster import Cluster
from tamis.routing.destinations.leased import LeasedMatching
from tamis.routing.destinations.loads import Loss
from tamis.routing.destinations.matching import SPOKEN
from tamis.routing.destinations.network import NetworkOptions
from tamis.routing.destinations.order import mark
from tamis.routing.destinations.organiser import Organiser
from tamis.routing.messages import Connect, Disconnect
from tamis.routing.packets import AnyPacket, LastWord, Name, Plan, Proposal, Ready, Routed, Verdict
from tamis.routing.registry import register

#: The cluster that all brokers are in.
EVERYBODY: Final = "everybody"


class OrganisedOptions(NetworkOptions, frozen=True):
    """How the overlay organises itself. With `max_degree` 0 it stays as it is."""

    #: So many links a broker has at most.
    max_degree: Annotated[int, msgspec.Meta(ge=0)] = 0
    #: So many seconds pass before links are reconsidered.
    period: Annotated[float, msgspec.Meta(gt=0)] = 60.0
    #: Which traffic is taken as lost when a link is dropped: all that crosses it, or that between its ends.
    loss: Loss = "transit"


@register(
    "ddbr",
    Capabilities(
        exact=True,
        general=True,
        advertisements=True,
        summary="the first broker matches an event and lists who wants it; it takes the shortest ways there",
    ),
)
class DestinationBased(LeasedMatching):
    """All brokers know each other and all links. Only source and destinations compare an event with conditions."""

    Settings = OrganisedOptions
    speaks = (*SPOKEN, Proposal, Plan, Verdict, Ready, LastWord)

    def __init__(self, name: Name, options: OrganisedOptions) -> None:
        super().__init__(name, options)
        self._period = options.period
        self._organiser = Organiser(self, options.max_degree, options.loss) if options.max_degree else None
        self._retired: dict[Name, None] = {}

    def clusters_of(self, neighbour: Name) -> tuple[Name, ...]:  # noqa: ARG002 - all are in one
        return (EVERYBODY,)

    # --- self-organisation -------------------------------------------------------------------------------

    def on_neighbour_up(self, neighbour: Name) -> None:
        super().on_neighbour_up(neighbour)
        if self._organiser is not None:
            self._organiser.link_came(neighbour)
            # Brokers that all proposed at once would all be busy when they are asked.
            self.soon("organise", self._period * (1 + mark(self.name) / 2**64), background=True)

    def on_neighbour_down(self, neighbour: Name) -> None:
        super().on_neighbour_down(neighbour)
        self._retired.pop(neighbour, None)
        if self._organiser is not None and EVERYBODY in self.clusters:
            self._organiser.link_went(self.clusters[EVERYBODY], neighbour)

    def on_timer(self, timer: str) -> None:
        super().on_timer(timer)
        if timer == "organise" and self._organiser is not None and EVERYBODY in self.clusters:
            self._organiser.reconsider(self.clusters[EVERYBODY])
            self.soon("organise", self._period, background=True)

    def on_packet(self, neighbour: Name, packet: Any) -> None:
        super().on_packet(neighbour, packet)
        if isinstance(packet, LastWord):
            if neighbour in self._retired:
                self._actions.append(Disconnect(neighbour))
            else:
                self.retire(neighbour)

    def retire(self, neighbour: Name) -> None:
        """Take a link away once nothing is on it: say so, and wait until the other end has said so, too."""
        if neighbour in self.neighbours and neighbour not in self._retired:
            self._retired[neighbour] = None
            self.close(neighbour, lossy=False)
            self.send(neighbour, LastWord())

    def ask_for(self, neighbour: Name) -> None:
        """Ask for a link."""
        self._actions.append(Connect(neighbour))

    def on_routed(self, cluster: Cluster, packet: Any, place: int) -> None:
        if isinstance(packet, Proposal | Plan | Verdict | Ready):
            if self._organiser is not None:
                self._organiser.on_packet(cluster, packet)
            return
        if self._organiser is not None:
            self._organiser.loads.with_brokers[packet.source] += 1
        super().on_routed(cluster, packet, place)

    def emit(self, packet: Routed) -> None:
        if self._organiser is not None:
            self._organiser.loads.with_brokers.update(packet.destinations)
        super().emit(packet)

    def on_way(self, neighbour: Name, packet: Routed) -> None:
        if self._organiser is not None:
            self._organiser.loads.over_links[neighbour] += 1
        super().on_way(neighbour, packet)

    def send(self, neighbour: Name, packet: AnyPacket) -> None:
        if self._organiser is not None and isinstance(packet, Routed):
            self._organiser.loads.over_links[neighbour] += 1
        super().send(neighbour, packet)
