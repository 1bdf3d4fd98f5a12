"""What a link between two brokers is like: how long, how wide, and how well it keeps what it is given."""

from random import Random

import msgspec

from tamis.routing.packets import AnyPacket

_ENCODER = msgspec.msgpack.Encoder()


class Link(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a link is like, in both directions. Times are in seconds."""

    latency: float = 0.001
    #: Up to so much is added to the latency of each packet, by chance.
    jitter: float = 0.0
    #: Bytes per second; None for a link that takes everything at once.
    bandwidth: float | None = None
    #: The share of packets that get lost.
    loss: float = 0.0
    #: The share of packets that arrive twice.
    duplicates: float = 0.0
    #: Whether packets arrive in the order in which they were sent, as over TCP.
    ordered: bool = True

    def __post_init__(self) -> None:
        if self.latency < 0 or self.jitter < 0:
            raise ValueError(f"latency and jitter are not negative: {self.latency}, {self.jitter}")
        if self.bandwidth is not None and self.bandwidth <= 0:
            raise ValueError(f"a bandwidth is positive, not {self.bandwidth}")
        for name in ("loss", "duplicates"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a share between 0 and 1, not {getattr(self, name)}")


class Travel:
    """How packets travel in one direction of a link: when does what is sent now arrive?"""

    __slots__ = ("_free", "_last", "_latency", "_plain", "_random", "link", "twice")

    def __init__(self, link: Link, random: Random) -> None:
        self._random = random
        self._free = 0.0
        self._last = 0.0
        self.become(link)

    def become(self, link: Link) -> None:
        """Be another kind of link from now on; what is on its way arrives as it would have."""
        self.link = link
        self._latency = link.latency
        self._plain = link.ordered and not link.jitter and not link.loss and link.bandwidth is None
        #: Whether some packets arrive twice.
        self.twice = link.duplicates > 0

    def again(self, packet: AnyPacket, now: float) -> float | None:
        """Return when a packet arrives for the second time; None if it does not."""
        return self.arrival(packet, now) if self._random.random() < self.link.duplicates else None

    def arrival(self, packet: AnyPacket, now: float) -> float | None:
        """Return when a packet arrives; None if it gets lost."""
        if self._plain:
            time = now + self._latency
            # A link that has become shorter does not let packets overtake either.
            if time < self._last:
                time = self._last
            self._last = time
            return time
        link = self.link
        if link.bandwidth is not None:
            # What gets lost takes its time on the link all the same.
            self._free = max(self._free, now) + len(_ENCODER.encode(packet)) / link.bandwidth
            now = self._free
        if link.loss and self._random.random() < link.loss:
            return None
        time = now + link.latency
        if link.jitter:
            time += self._random.random() * link.jitter
        if link.ordered:
            self._last = time = max(time, self._last)
        return time
