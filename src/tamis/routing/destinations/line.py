"""What went over a link and what came, so that both ends notice what got lost on it."""

from tamis.routing.packets import Heartbeat


class Line:
    """One's own end of a link, from the time at which it opened.

    A link may lose packets without being missed, because it is dark for less time than it takes to suspect a
    neighbour. So heartbeats tell how many packets went before them, and links keep packets in order.
    """

    __slots__ = ("_came", "_theirs", "alive", "opened", "sent")

    def __init__(self, now: float) -> None:
        #: When something came over the link last.
        self.alive = now
        self.opened = int(now * 1e6)
        #: So many packets went over the link, and so many came since the last heartbeat; heartbeats are left out.
        self.sent = 0
        self._came = 0
        #: When the other end opened the link, and how many packets it had sent, as it said last.
        self._theirs: tuple[int | None, int] = None, 0

    def came(self) -> None:
        """Count a packet."""
        self._came += 1

    def heartbeat(self, digest: int) -> Heartbeat:
        """Return what is to be told to the other end."""
        return Heartbeat(digest, self.opened, self.sent)

    def lost(self, heartbeat: Heartbeat) -> bool:
        """Say whether packets got lost since the heartbeat before."""
        opened, before = self._theirs
        came, self._came = self._came, 0
        self._theirs = heartbeat.opened, heartbeat.sent
        return opened not in (None, heartbeat.opened) or came < heartbeat.sent - before
