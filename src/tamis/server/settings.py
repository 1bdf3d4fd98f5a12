"""What a broker process is to be like, checked before anything listens."""

import ipaddress
import socket
import ssl
from pathlib import Path
from typing import Any, Final

import msgspec

from tamis.healing import Ages, Healing, Stabilise
from tamis.routing import Strategy, make_strategy
from tamis.routing.mendable import Mendable
from tamis.server.limits import Limits
from tamis.tls import client_context, is_tls, server_context
from tamis.wire import DEFAULT_PORT, MAX_NAME, parse_address

#: A store is not bounded to fewer bytes: its tables need some, and what is deleted leaves gaps.
LEAST_SIZE: Final = 1 << 18
#: Unless told otherwise a store uses so many bytes at most, and keeps events for so many seconds.
STORE_SIZE: Final = 1 << 30
STORE_AGE: Final = 7 * 86_400.0
#: What a broker does unless told otherwise.
DEFAULT_STRATEGY: Final = "ddbr"


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where a broker listens, whom it joins, and how it routes. All brokers of an overlay have the same strategy,
    options and healing; one that has others is refused.
    """

    host: str = "127.0.0.1"
    #: 0 for any free port.
    port: int = DEFAULT_PORT
    #: The port for HTTP and WebSocket, 0 for any free one; None for no HTTP.
    http_port: int | None = None
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
    #: The file of tokens; None: nobody is asked for one (docs/security.md).
    tokens: Path | None = None
    #: What each client may use, unless its token says otherwise.
    limits: Limits = Limits()
    #: Certificate and key, in PEM; with them every port speaks TLS, and nothing else.
    tls_cert: Path | None = None
    tls_key: Path | None = None
    #: The token that is shown to brokers that are joined, and the authorities that their certificates are checked by.
    token: str | None = None
    ca: Path | None = None
    #: The file in which durable events and subscriptions are kept; None: this broker keeps nothing.
    store: Path | None = None
    #: The file has at most so many bytes in use, and events are kept for so many seconds; what is more, or older, is
    #: given up, and those who wanted it are told how much. A store that was away for longer is kept nothing for.
    store_size: int = STORE_SIZE
    store_age: float = STORE_AGE

    def __post_init__(self) -> None:
        for port in (self.port, self.http_port):
            if port is not None and not 0 <= port < 1 << 16:
                raise ValueError(f"a port is a number from 0 to 65535, not {port}")
        if self.name is not None and not 0 < len(self.name) <= MAX_NAME:
            raise ValueError(f"a broker's name has 1 to {MAX_NAME} characters")
        self.check_host(self.host)
        if (self.tls_cert is None) is not (self.tls_key is None):
            raise ValueError("a certificate needs its key, and a key its certificate: --tls-cert and --tls-key")
        if self.store_size < LEAST_SIZE or not self.store_age > 0:
            raise ValueError(f"a store has room for {LEAST_SIZE:,} bytes or more, and keeps events for some time")
        if self.options.get("max_degree"):
            raise ValueError("brokers have the links that they were given: max_degree is for simulations")
        if self.healing is not None and self.ages is not None:
            raise ValueError("healing says already whether ages are bounded: give one of `healing` and `ages`")
        if self.healing is not None and self.healing.leases is not None:
            raise ValueError("leases are for simulations: here a client's connection says that it is there")
        for address in self.join:
            parse_address(address)

    def check_host(self, host: str) -> None:
        """Raise `ValueError` if others than this machine could connect to a host, and nobody were asked who it is."""
        if self.tokens is None and not self.insecure and not is_loopback(host):
            raise ValueError(
                f"{host} can be reached from other machines, and nobody who connects is asked who it is: "
                "listen on 127.0.0.1, ask for tokens with --tokens, or allow it with --insecure"
            )

    def server_tls(self) -> ssl.SSLContext | None:
        """Return the context for every port that listens; files that do not fit are a `ValueError`."""
        if self.tls_cert is None or self.tls_key is None:
            return None
        return server_context(self.tls_cert, self.tls_key)

    def join_tls(self) -> ssl.SSLContext | None:
        """Return the context for brokers that are joined over TLS; None if none is."""
        return client_context(self.ca) if any(map(is_tls, self.join)) else None

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
