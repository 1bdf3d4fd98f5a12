"""What goes wrong, by name."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

#: Kinds of trouble. `crash`: brokers crash and links are cut, and neighbours notice; `silence`: they do not notice;
#: `loss`, `disorder` and `doubles`: packets get lost, overtake each other, arrive twice; `corruption`: tables are mixed
#: up; `garbage`: packets come that nobody sent, or long ago and elsewhere; `clocks`: clocks jump.
Trouble: TypeAlias = Literal["crash", "silence", "loss", "disorder", "doubles", "corruption", "garbage", "clocks"]

_PROFILES: Final[Mapping[str, tuple[Trouble, ...]]] = {
    "crashes": ("crash", "silence"),
    "network": ("crash", "silence", "loss", "disorder", "doubles"),
    "corruption": ("corruption", "garbage", "clocks"),
    "all": ("crash", "silence", "loss", "disorder", "doubles", "corruption", "garbage", "clocks"),
}


def profiles() -> dict[str, tuple[Trouble, ...]]:
    """Return all profiles, each with the kinds of trouble that it has."""
    return dict(_PROFILES)
