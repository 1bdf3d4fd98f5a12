"""Keeps a link to one address: calls, waits until the link is gone, and calls again, later each time that it fails."""

import asyncio
from random import uniform
from time import monotonic
from typing import TYPE_CHECKING, Final

from tamis.server.connection import Connection
from tamis.server.greeting import Called
from tamis.tls import explained, is_tls
from tamis.wire import SILENCE, parse_address

if TYPE_CHECKING:
    from tamis.server.server import Server

#: Seconds until the next call: at first, and at most. Each is made longer or shorter by chance, so that brokers that
#: lost each other do not all call at the same moments.
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
#: A link that stood for so many seconds was a good one.
GOOD: Final = 5.0


async def keep_joined(server: "Server", address: str) -> None:
    """Keep a link to an address until cancelled."""
    pause = FIRST_PAUSE
    said = ""
    name: str | None = None
    while True:
        began = monotonic()
        if name is None or name not in server.links:
            name, problem = await _call(server, address, name)
            if problem and problem != said:
                server.log.warning("link.failed", address=address, reason=problem)
            said = problem
        pause = FIRST_PAUSE if monotonic() - began > GOOD else min(2 * pause, LONGEST_PAUSE)
        await asyncio.sleep(pause * uniform(0.5, 1.0))  # noqa: S311 - no secret


async def _call(server: "Server", address: str, name: str | None) -> tuple[str | None, str]:
    """Call once, and wait until the link is gone; return whom the address belongs to, and what went wrong."""
    called: list[Called] = []

    def greet(connection: Connection) -> Called:
        called.append(Called(server, connection))
        server.joined[address] = called[0]
        return called[0]

    loop = asyncio.get_running_loop()
    host, port = parse_address(address)
    tls = server.join_tls if is_tls(address) else None
    try:
        async with asyncio.timeout(SILENCE):
            _, connection = await loop.create_connection(lambda: server.connection(greet), host, port, ssl=tls)
    except (OSError, TimeoutError) as error:
        return name, explained(error, tls is not None)
    try:
        await asyncio.wait([connection.closed])
    finally:
        connection.abort()
    party = called[0]
    if party.refused is not None:
        return party.name or name, party.refused.message
    return party.name or name, ""
