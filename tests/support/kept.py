"""Brokers with stores, in this process."""

from pathlib import Path
from typing import Any

from support.brokers import until
from tamis.client import DurableSubscription
from tamis.server import Server, ServerSettings


def stored(folder: Path, name: str, *joined: Server, **settings: Any) -> Server:
    """Return a broker that keeps its store in a folder, and joins others."""
    join = tuple(other.url for other in joined)
    chosen: dict[str, Any] = {"port": 0, "name": name, "join": join, "store": folder / f"{name}.store"} | settings
    return Server(ServerSettings(**chosen))


async def taken(subscription: DurableSubscription[Any], count: int) -> list[Any]:
    """Take so many events; return what is under `x` in them."""
    return [(await anext(subscription))["x"] for _ in range(count)]


async def written(*servers: Server) -> None:
    """Wait until all that there is to write is written, and let everything be checked."""
    for server in servers:
        durable = server.durable
        assert durable is not None
        await until(lambda durable=durable: not (durable._writing or durable._requests or durable._lazy))  # type: ignore[misc]
        durable.check_invariants()
