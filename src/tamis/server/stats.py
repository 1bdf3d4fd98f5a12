"""How a broker is, for those who administer it: collected when somebody asks."""

import os
from heapq import nlargest
from pathlib import Path
from time import process_time, time_ns
from typing import TYPE_CHECKING, Final

from tamis.wire import LinkStats, SlowStats, Stats

if TYPE_CHECKING:
    from tamis.server.server import Server

#: So many of the slowest clients are told.
SLOWEST: Final = 20


def stats_of(server: "Server", number: int) -> Stats:
    """Return the answer to a request."""
    clients = [(session.guest.name, session.connection.outbox) for session in server.sessions]
    slow = [
        SlowStats(name, len(outbox), outbox.size, outbox.dropped)
        for name, outbox in clients
        if outbox.dropped or (outbox.paused and len(outbox))
    ]
    return Stats(
        number,
        broker=server.name,
        strategy=server.strategy.name,
        uptime=(time_ns() - server.boot) / 1e9,
        cpu_seconds=process_time(),
        memory=resident_bytes(),
        clients=len(clients),
        subscriptions=len(server.subscriptions),
        counts={
            "published": server.counts["published"],
            "delivered": server.runner.counts["delivered"],
            "dropped": server.traffic.dropped.total() + sum(outbox.dropped for _, outbox in clients),
            "refused": server.counts["refused requests"],
            "matchings": server.runner.counts["matches"],
        },
        links=tuple(LinkStats(link.name, link.connection.waiting) for link in server.links),
        slow=tuple(nlargest(SLOWEST, slow, key=lambda each: (each.waiting_bytes, each.dropped))),
    )


def resident_bytes() -> int | None:
    """Return how much of this process is in memory, where the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
