"""What may be set for a broker."""

from collections.abc import Mapping
from typing import Any, Final

URL: Final = "url"
DURABLE: Final = "durable"
CONDITION: Final = "condition"
TOKEN: Final = "token"
CA: Final = "ca"


def check_reading(options: Mapping[str, str]) -> None:
    """Refuse options that lack something."""
    for name, meaning in (
        (URL, "where the broker is"),
        (DURABLE, "the name of the subscription"),
        ("path", "a folder"),
    ):
        if name not in options:
            raise ValueError(f"the option {name!r} is missing: {meaning}")


def connection(options: Mapping[str, str]) -> dict[str, Any]:
    """Return what a client is made with."""
    if URL not in options:
        raise ValueError(f"the option {URL!r} is missing: where the broker is")
    return {"url": options[URL], "token": options.get(TOKEN), "ca": options.get(CA)}
