"""Pages in a browser on this machine are not this machine: they carry what any site tells them to."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from tamis.server.settings import ServerSettings
from tamis.wire import ProtocolError


def check_page(settings: ServerSettings, headers: Mapping[str, str]) -> None:
    """Raise `ProtocolError` (`forbidden`) if a page of another site asks a broker that asks nobody for a token.

    Listening on loopback keeps other machines away, but not what their pages have a browser here send. Such a request
    names another site as its origin, or, if that site has pointed its own name at this machine, as the host. Names are
    as they come in requests: in small letters.
    """
    if settings.tokens is not None:
        return
    host, origin = headers.get("host", ""), headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        raise ProtocolError("forbidden", "pages of other sites may not use a broker that asks for no token")
    if not settings.insecure and not _is_here(host):
        raise ProtocolError("forbidden", "a broker that asks for no token is called localhost, 127.0.0.1 or [::1]")


def _is_here(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
