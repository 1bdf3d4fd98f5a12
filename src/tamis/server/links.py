"""All links of a broker: which stand, which of two between the same brokers stays, and whether a circle would close."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tamis.routing.messages import NeighbourDown, NeighbourUp
from tamis.routing.packets import AnyPacket, Name
from tamis.server.link import BEHIND, BrokerHello, Link, Side
from tamis.wire import ProtocolError

if TYPE_CHECKING:
    from tamis.server.server import Server


class Links:
    """The links that stand, by the name of the neighbour. The machine is told of each that comes and goes.

    Strategies that need a tree have it checked: both ends of a new link say which brokers are on their side, and tell
    each other when that changes. A link between two sides that share a broker is closed.
    """

    def __init__(self, server: "Server", tree: bool) -> None:
        self._server = server
        self._tree = tree
        self._links: dict[Name, Link] = {}
        self._told: dict[Name, tuple[str, ...]] = {}
        self._behind: set[Link] = set()

    def __contains__(self, name: object) -> bool:
        return name in self._links

    def __len__(self) -> int:
        return len(self._links)

    def __iter__(self) -> Iterator[Link]:
        return iter(list(self._links.values()))

    def names(self) -> list[Name]:
        """Return the neighbours' names."""
        return list(self._links)

    # --- links come and go -------------------------------------------------------------------------------

    def check(self, hello: BrokerHello, dialled: bool) -> None:
        """Raise `ProtocolError` if a broker that greets cannot become a neighbour by this connection."""
        server = self._server
        if hello.name == server.name:
            if hello.boot == server.boot:
                raise ProtocolError("self", f"broker {server.name} would be its own neighbour")
            raise ProtocolError("mismatch", f"there is a broker {server.name} already; names are unique")
        if hello.overlay != server.overlay:
            raise ProtocolError("mismatch", f"this overlay has {server.overlay}, not {hello.overlay}")
        old = self._links.get(hello.name)
        if old is not None and old.boot == hello.boot:
            opener = server.name if dialled else hello.name
            # Both may have called each other at once. Both ends keep the call of the lesser name; who calls again has
            # seen the last call end.
            if opener not in (old.opener, min(server.name, hello.name)):
                raise ProtocolError("duplicate", f"there is a link between {server.name} and {hello.name} already")
        if old is not None and old.boot > hello.boot:
            raise ProtocolError("duplicate", f"broker {hello.name} has started anew since")
        # A link that takes the place of another closes no circle.
        if self._tree and old is None:
            shared = set(hello.side or (hello.name,)) & set(self.side(without=hello.name))
            if shared:
                raise ProtocolError("circle", f"the overlay has to be a tree, and {min(shared)} is on both sides")

    def add(self, link: Link) -> None:
        """A link stands. One to the same broker that stood before goes."""
        old = self._links.get(link.name)
        if old is not None:
            old.connection.close("duplicate", "another connection has taken the place of this one")
        self._links[link.name] = link
        self._server.log.info("link.up", neighbour=link.name)
        self._server.runner.tell(NeighbourUp(link.name))
        if self._server.durable is not None:
            self._server.durable.handover.up(link)
        self._told.pop(link.name, None)
        self._tell_sides()

    def gone(self, link: Link) -> None:
        """A link has gone."""
        self.caught_up(link)
        if self._server.durable is not None:
            self._server.durable.handover.down(link)
        if self._links.get(link.name) is not link:
            return
        del self._links[link.name]
        self._told.pop(link.name, None)
        self._server.log.info("link.down", neighbour=link.name)
        self._server.runner.tell(NeighbourDown(link.name))
        self._tell_sides()

    def send(self, neighbour: Name, packet: AnyPacket) -> None:
        """Send a packet over the link to a neighbour; where there is none, it is lost with the link."""
        link = self._links.get(neighbour)
        if link is None or link.connection.closing:
            self._server.counts["packets lost"] += 1
        else:
            link.send(packet)

    def disconnect(self, neighbour: Name) -> None:
        """Close the link to a neighbour."""
        link = self._links.get(neighbour)
        if link is not None:
            link.connection.close("stopping", "the overlay does without this link")

    # --- trees -------------------------------------------------------------------------------------------

    def side(self, without: Name) -> tuple[str, ...]:
        """Return this broker and all that are behind other links."""
        others = [each for link in self._links.values() if link.name != without for each in link.side]
        return tuple(sorted({self._server.name, *others}))

    def greeting_side(self, to: Name | None = None) -> tuple[str, ...] | None:
        """Return what is said in a greeting, to somebody whose name may be known."""
        return self.side(without="" if to is None else to) if self._tree else None

    def side_changed(self, link: Link) -> None:
        """A neighbour tells which brokers are on its side now."""
        shared = set(link.side) & set(self.side(without=link.name))
        if self._tree and shared:
            text = f"the overlay has to be a tree, and {min(shared)} is on both sides of a link"
            self._server.log.warning("link.closed", neighbour=link.name, reason=text)
            link.connection.close("circle", text)
            return
        self._tell_sides()

    def _tell_sides(self) -> None:
        if not self._tree:
            return
        for link in list(self._links.values()):
            side = self.side(without=link.name)
            if self._told.get(link.name) != side:
                self._told[link.name] = side
                link.connection.say(Side(side))

    # --- back-pressure -----------------------------------------------------------------------------------

    @property
    def are_behind(self) -> bool:
        """Whether clients are not read because of a neighbour."""
        return bool(self._behind)

    def behind(self, link: Link) -> None:
        """Too much waits for a neighbour: read no client until it has caught up."""
        if not self._behind:
            for session in self._server.sessions:
                session.connection.stop_reading("links")
        self._behind.add(link)

    def caught_up(self, link: Link | None = None) -> None:
        """Read clients again if no neighbour is behind any more. A link that is named has gone."""
        if not self._behind:
            return
        self._behind = {each for each in self._behind if each is not link and each.connection.waiting > BEHIND // 2}
        if not self._behind:
            for session in self._server.sessions:
                session.connection.read_again("links")
