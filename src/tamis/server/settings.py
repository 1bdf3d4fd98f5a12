"""What a broker process is to be like, checked before anything listens."""

import ipaddress
import socket
from typing import Any, Final

import msgspec

from tamis.healing import Ages, Healing, Stabilise
from tamis.routing import Strategy, make_strategy
from tamis.routing.mendable import Mendable
from tamis.wire import DEFAULT_PORT, MAX_NAME, parse_address

#: What a broker does unless told otherwise.
DEFAULT_STRATEGY: Final = "ddbr"


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where a broker listens, whom it joins, and how it routes. All brokers of an overlay have the same strategy,
    options and healing; one that has others is refused.
    """

    host: str = "127.0.0.1"
    #: 0 for any free port.
    port: int = DEFAULT_PORT
    #: Unique in the overlay; by default made of host name and port.
    name: str | None = None
    #: Brokers to have a link with, as HOST:PORT.
    join: tuple[str, ...] = ()
    strategy: str = DEFAULT_STRATEGY
    options: dict[str, Any] = {}
    #: None for what suits the strategy: brokers that can observe and correct each other do so. `ages` comes with that.
    healing: Healing | None = None
    ages: Ages | None = None
    #: Whether others than this machine may connect, although nobody is asked who they are.
    insecure: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise ValueError(f"a port is a number from 0 to 65535, not {self.port}")
        if self.name is not None and not 0 < len(self.name) <= MAX_NAME:
            raise ValueError(f"a broker's name has 1 to {MAX_NAME} characters")
        if not self.insecure and not is_loopback(self.host):
            raise ValueError(
                f"{self.host} can be reached from other machines, and nobody who connects is asked who it is: "
                "listen on 127.0.0.1, or allow it with --insecure"
            )
        if self.options.get("max_degree"):
            raise ValueError("brokers have the links that they were given: max_degree is for simulations")
        if self.healing is not None and self.ages is not None:
            raise ValueError("healing says already whether ages are bounded: give one of `healing` and `ages`")
        if self.healing is not None and self.healing.leases is not None:
            raise ValueError("leases are for simulations: here a client's connection says that it is there")
        for address in self.join:
            parse_address(address)

    def made_strategy(self) -> Strategy:
        """Return the strategy; a name or options that are none are a `ValueError`."""
        return make_strategy(self.strategy, self.options)

    def chosen_healing(self, strategy: Strategy) -> Healing:
        """Return the layers around the broker."""
        if self.healing is not None:
            return self.healing
        mendable = isinstance(strategy.broker("any"), Mendable)
        return Healing(stabilise=Stabilise(exchange="sketch") if mendable else None, ages=self.ages)


def is_loopback(host: str) -> bool:
    """Say whether only this machine can connect to an address."""
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host or None, None)} if host else set()
        return bool(found) and all(ipaddress.ip_address(str(each).partition("%")[0]).is_loopback for each in found)
    except (OSError, ValueError):
        return False
