"""What brokers send each other: one union of frozen structs.

A strategy uses some of them. Conditions travel as text in canonical spelling (`conditions.canonical`).
"""

from typing import Annotated, Any, ClassVar, TypeAlias

import msgspec

from tamis.routing.prefix.forwarding import ForwardingTree

#: A broker or a client. Brokers and clients may bear the same name: nothing mixes them.
Name: TypeAlias = str | int


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a publisher says: an id that is unique in the overlay, and attributes with their values."""

    id: Name
    content: dict[str, Any]
    #: The W3C trace context in which it was published (`traceparent`), carried along unchanged.
    trace: str | None = None


class Packet(msgspec.Struct, frozen=True, tag=True):
    """What goes over a link."""

    #: Whether it is sent for ever, so that an overlay in which nothing else moves is quiet.
    background: ClassVar[bool] = False


class Plain(Packet, frozen=True):
    """An event and nothing else."""

    event: Event


class Subscription(msgspec.Struct, frozen=True):
    """One client's condition, told apart from the same condition of another client."""

    broker: Name
    client: Name
    condition: str


class Subscriptions(Packet, frozen=True):
    """Subscriptions of clients behind the sender, each told of by itself: some are gone, some are new."""

    remove: tuple[Subscription, ...]
    add: tuple[Subscription, ...]


class Filters(Packet, frozen=True):
    """The sender wants other events than before: first forget some conditions, then add some, as one step.

    Sending both at once leaves no moment in which an event could slip through (specs/004 §3).
    """

    remove: tuple[str, ...]
    add: tuple[str, ...]


class Adverts(Packet, frozen=True):
    """Publishers behind the sender announce other events than before; first remove, then add."""

    remove: tuple[str, ...]
    add: tuple[str, ...]


class Ranges(Packet, frozen=True):
    """The sender covers other runs of a curve than before: pairs of first and last place; first remove, then add."""

    remove: tuple[tuple[int, int], ...]
    add: tuple[tuple[int, int], ...]


class Tree(msgspec.Struct, frozen=True):
    """The name of the tree along which one advertisement was spread: its root, and a number that the root gave it."""

    broker: Name
    number: int


class TreeAdvert(Packet, frozen=True):
    """An advertisement spreads, and the ways that it takes become its tree."""

    tree: Tree
    condition: str


class TreeGone(Packet, frozen=True):
    """A tree is no more: its advertisement was taken back, or a link of it has gone."""

    tree: Tree


class TreeSubscriptions(Packet, frozen=True):
    """Subscriptions behind the sender want the events of one tree, or no longer do."""

    tree: Tree
    remove: tuple[Subscription, ...]
    add: tuple[Subscription, ...]


class TreeEvent(Packet, frozen=True):
    """An event on its way down a tree."""

    tree: Tree
    event: Event


class Marked(Packet, frozen=True):
    """An event with the bits of all predicates that it meets, as the first broker found them, in ascending order."""

    event: Event
    places: tuple[int, ...]


class KeyedSubscription(msgspec.Struct, frozen=True):
    """A subscription and the number of 32 bits under which events refer to it."""

    subscription: Subscription
    key: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]


class KeyedSubscriptions(Packet, frozen=True):
    """Subscriptions of clients behind the sender: some are gone, some are new and have keys."""

    remove: tuple[Subscription, ...]
    add: tuple[KeyedSubscription, ...]


class Keyed(Packet, frozen=True):
    """An event with keys of subscriptions behind the receiver that it meets, four bytes each, lowest first.

    `complete` says that these are all. Otherwise there may be more.
    """

    event: Event
    keys: bytes
    complete: bool


class Prefixed(Packet, frozen=True):
    """An event with the part of a routing tree that it meets."""

    event: Event
    prefix: ForwardingTree


class RoutingTreeUpdate(Packet, frozen=True):
    """A routing tree that the optimiser published (`Snapshot.encoded`)."""

    tree: bytes


class Least(Packet, frozen=True):
    """The least name among the sender and all brokers behind it."""

    broker: Name


class Links(msgspec.Struct, frozen=True):
    """Which links one broker has in a cluster: a row of the topology routing table (specs/002 §3.2).

    The newest row of a broker wins: the highest epoch, then the highest sequence. An epoch is one life of a broker.
    """

    broker: Name
    epoch: int
    sequence: int
    #: How often this broker saw packets get lost: with a link, or because it had to drop them.
    losses: int
    links: tuple[Name, ...]


class LinkState(Packet, frozen=True):
    """Rows of a cluster's topology that the receiver may not have yet."""

    cluster: Name
    rows: tuple[Links, ...]


class Heartbeat(Packet, frozen=True, omit_defaults=True):
    """The sender is alive, and knows these rows of the topology, summed up (`Topology.digest`).

    It opened the link at a time by its own clock, and has sent so many other packets over it since.
    """

    digest: int = 0
    opened: int = 0
    sent: int = 0
    background: ClassVar[bool] = True


class Routed(Packet, frozen=True):
    """What goes to some brokers of a cluster by the shortest ways, split wherever these part (specs/002 §3.2)."""

    cluster: Name
    source: Name
    destinations: tuple[Name, ...]
    #: Over so many links it may still go.
    ttl: int


class Multicast(Routed, frozen=True):
    """An event and the brokers that want it."""

    event: Event


class Announcement(msgspec.Struct, frozen=True):
    """An advertisement as one broker tells it to its cluster.

    `path` has the marks of the brokers that told it before, the first one first; none if the teller's own client made
    it (specs/002 §3.4).
    """

    condition: str
    path: tuple[int, ...]


class Numbered(Routed, frozen=True):
    """One of the changes that a broker tells the others of, in its epoch.

    For each destination, `previous` has the number of what it was told before, so that it sees if it missed something.
    """

    epoch: int
    number: int
    previous: tuple[int, ...]


class Offered(Numbered, frozen=True):
    """The source offers other events than before; first remove, then add."""

    remove: tuple[Announcement, ...]
    add: tuple[Announcement, ...]


class Wanted(Numbered, frozen=True):
    """The source wants other events than before; first remove, then add."""

    remove: tuple[str, ...]
    add: tuple[str, ...]


class Snapshot(Routed, frozen=True):
    """All that the source offers to the destinations and wants from them."""

    epoch: int
    number: int
    offers: tuple[Announcement, ...]
    conditions: tuple[str, ...]


class Check(Routed, frozen=True):
    """Did anything get lost? For each destination: the last number sent, the last one heard, and of which epoch."""

    epoch: int
    numbers: tuple[tuple[int, int, int], ...]


class Again(Routed, frozen=True):
    """The source missed something and asks for a snapshot."""

    epoch: int


class Proposal(Routed, frozen=True):
    """A link between the source and the destination would gain more than the source loses by dropping one of its own.

    Links are given by their ends (specs/002 §3.3).
    """

    gain: float
    loss: float
    drop: tuple[Name, ...]


class Plan(Routed, frozen=True):
    """Two brokers ask the one that watches over connectedness: may we drop these links and make one between us?"""

    pair: tuple[Name, Name]
    drops: tuple[tuple[Name, ...], ...]


class Verdict(Routed, frozen=True):
    """The answer to a plan or a proposal, told to those who made it."""

    pair: tuple[Name, Name]
    accepted: bool


class Ready(Routed, frozen=True):
    """The source has dropped what it had to, and waits for the link to the destination."""


class LastWord(Packet, frozen=True):
    """Nothing more will be sent over this link: once both ends have said so, it can go and takes nothing with it."""


class Refresh(Packet, frozen=True):
    """A packet that says again what was said before, so that nobody forgets it (specs/004 §7)."""

    packet: "AnyPacket"
    background: ClassVar[bool] = True


class Ping(Packet, frozen=True):
    """Please answer with a pong: a link has come, and both ends need stamps of each other."""


class Pong(Packet, frozen=True):
    """Nothing but the stamp around it, so that no stamp becomes old."""

    background: ClassVar[bool] = True


#: One life of one end of a link: the how-manieth start of the broker, and a number that it gave this end.
Life: TypeAlias = tuple[int, int]


class Echo(msgspec.Struct, frozen=True, array_like=True):
    """What one end of a link knows of packets that it got from the other: two of them (specs/004 §6).

    Times at which something was sent are of the other end's clock, as it said.
    """

    #: Which life of the other end sent them.
    life: Life
    #: The helper: when it was sent, at least how long ago it came, and at least how long it was on its way.
    helper_sent: float
    held: float
    least: float
    #: The last one: when it was sent, at most how long ago it came, and at most how long it was on its way, if known.
    last_sent: float
    turned: float
    most: float | None


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """When a packet was sent by the sender's clock, which drifts by at most so much, and what came the other way."""

    life: Life
    drift: float
    sent: float
    echo: Echo | None


class Stamped(Packet, frozen=True):
    """A packet with a stamp of its link. `Metrics` and traces look through it."""

    stamp: Stamp
    #: At most so many seconds had passed when it was stamped since somebody caused it; None if there is no bound.
    age: float | None
    packet: "AnyPacket"

    @property
    def background(self) -> bool:  # type: ignore[override]
        """Whether the packet inside is sent for ever."""
        return self.packet.background

    @property
    def event(self) -> Event | None:
        """The event that the packet inside carries, if it carries one."""
        return carried(self.packet)


class Sketch(msgspec.Struct, frozen=True):
    """A set of items as the bits of a Bloom filter and a sum of hashes, both of one salt (specs/000 §8)."""

    salt: int
    hashes: int
    #: How many bits there are; they fill bytes, lowest first.
    size: int
    bits: bytes
    digest: int


class Observe(Packet, frozen=True):
    """What do you hold from me? Answer with all, or if there is a sketch of what you should hold, only if you differ.

    An observation that is urgent is not made for ever, but once because something has happened.
    """

    number: int
    sketch: Sketch | None
    urgent: bool = False

    @property
    def background(self) -> bool:  # type: ignore[override]
        """Whether such packets are sent for ever."""
        return not self.urgent


class Held(Packet, frozen=True):
    """All that the sender holds from the receiver, as it was asked by its number."""

    number: int
    items: tuple[str, ...]


class Differs(Packet, frozen=True):
    """The sender holds something else: at least these items, which the sketch does not have, and its own sketch."""

    number: int
    items: tuple[str, ...]
    sketch: Sketch


class Correct(Packet, frozen=True):
    """What the receiver holds from the sender is wrong: some items are to go and some to come.

    With `spread` the receiver tells others of it at once, otherwise when it observes them (specs/000 §7).
    """

    gone: tuple[str, ...]
    come: tuple[str, ...]
    spread: bool


class Size(Packet, frozen=True):
    """So many brokers are behind this link, the sender included (specs/000 §9)."""

    brokers: int


class Idle(Packet, frozen=True):
    """An event that was of no use on its last hops except to get further (specs/000 §9)."""

    hops: int
    packet: "AnyPacket"

    @property
    def event(self) -> Event | None:
        """The event that the packet inside carries."""
        return carried(self.packet)


#: Every packet there is; the wire and traces are read with it.
AnyPacket: TypeAlias = (
    Plain
    | Stamped
    | Refresh
    | Ping
    | Pong
    | Prefixed
    | RoutingTreeUpdate
    | Least
    | LinkState
    | Heartbeat
    | Multicast
    | Offered
    | Wanted
    | Snapshot
    | Check
    | Again
    | Proposal
    | Plan
    | Verdict
    | Ready
    | LastWord
    | Subscriptions
    | Filters
    | Adverts
    | Ranges
    | TreeAdvert
    | TreeGone
    | TreeSubscriptions
    | TreeEvent
    | Marked
    | KeyedSubscriptions
    | Keyed
    | Observe
    | Held
    | Differs
    | Correct
    | Size
    | Idle
)


def unstamped(packet: AnyPacket) -> AnyPacket:
    """Return a packet without the stamp around it, if there is one."""
    return packet.packet if isinstance(packet, Stamped) else packet


def carried(packet: AnyPacket) -> Event | None:
    """Return the event that a packet carries, if it carries one."""
    return getattr(packet, "event", None)
