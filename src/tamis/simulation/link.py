"""A link between two brokers: how long, how wide, and how well it keeps what it is given."""

from random import Random

import msgspec

from tamis.routing.packets import AnyPacket


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """What a link is like, in both directions. Times are in seconds."""

    latency: float = 0.001
    #: Up to so much is added to the latency of each packet, by chance.
    jitter: float = 0.0
    #: Bytes per second; None for a link that takes everything at once.
    bandwidth: float | None = None
    #: The share of packets that get lost.
    loss: float = 0.0
    #: Whether packets arrive in the order in which they were sent, as over TCP.
    ordered: bool = True

    def __post_init__(self) -> None:
        if self.latency < 0 or self.jitter < 0:
            raise ValueError(f"latency and jitter are not negative: {self.latency}, {self.jitter}")
        if self.bandwidth is not None and self.bandwidth <= 0:
            raise ValueError(f"a bandwidth is positive, not {self.bandwidth}")
        if not 0 <= self.loss <= 1:
            raise ValueError(f"a loss is a share between 0 and 1, not {self.loss}")


class Direction:
    """One direction of a link that stands: when does what is sent now arrive?"""

    __slots__ = ("_encoder", "_free", "_last", "_random", "link", "stands")

    def __init__(self, link: Link, random: Random) -> None:
        self.link = link
        #: False once the link is cut: what was on its way is lost.
        self.stands = True
        self._random = random
        self._free = 0.0
        self._last = 0.0
        self._encoder = msgspec.msgpack.Encoder()

    def arrival(self, packet: AnyPacket, now: float) -> float | None:
        """Return when a packet arrives; None if it gets lost."""
        link = self.link
        if link.bandwidth is not None:
            # What gets lost takes its time on the link all the same.
            self._free = max(self._free, now) + len(self._encoder.encode(packet)) / link.bandwidth
            now = self._free
        if link.loss and self._random.random() < link.loss:
            return None
        time = now + link.latency
        if link.jitter:
            time += self._random.random() * link.jitter
        if link.ordered:
            self._last = time = max(time, self._last)
        return time
