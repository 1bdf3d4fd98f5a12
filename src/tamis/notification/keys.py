"""Keys: what tells items apart under one subscription, as events have them and as bytes."""

import datetime as dt
from typing import Any, Final

from tamis.language import Kind

#: A kind and a value, so that `1` and `true` differ and `1` and `1.0` do not.
Key = tuple[Kind, Any]
#: The key of events that have none, and of all events where a clause names none.
MISSING: Final[Key] = (Kind.NULL, None)


def key_bytes(key: Key) -> bytes:
    """Return a key as bytes, so that `key_of` gives back an equal one."""
    kind, value = key
    if kind is Kind.STRING:
        return bytes(value.encode(errors="surrogatepass"))
    if kind is Kind.NUMBER:
        return (value.hex() if isinstance(value, float) else hex(value)).encode()
    if kind in (Kind.TIMESTAMP, Kind.DATE):
        return bytes(value.isoformat().encode())
    return b"true" if value else b""


def key_of(kind: Kind, data: bytes) -> Key:
    """Return the key of a kind that bytes hold."""
    text = data.decode(errors="surrogatepass")
    value: Any = None
    if kind is Kind.STRING:
        value = text
    elif kind is Kind.NUMBER:
        # Hexadecimal digits of a float have a point or are a word; those of an integer have neither.
        value = float.fromhex(text) if "p" in text or "n" in text else int(text, 16)
    elif kind is Kind.TIMESTAMP:
        value = dt.datetime.fromisoformat(text)
    elif kind is Kind.DATE:
        value = dt.date.fromisoformat(text)
    elif kind is Kind.BOOLEAN:
        value = text == "true"
    return kind, value
