"""All that happens in one run, in order: a plan that can be written down, repeated, and made shorter."""

from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from tamis.routing.packets import Name
from tamis.simulation.faults import ChangeLink, Corrupt, Crash, Cut, Heal, Partition, Restart, Reunite, StepClock


class _Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="fault", omit_defaults=True):
    """Something that happens at a time."""

    at: float


class Subscribes(_Step, frozen=True, kw_only=True, tag="subscribes"):
    """A client wants something more."""

    broker: Name
    client: Name
    condition: str


class Unsubscribes(_Step, frozen=True, kw_only=True, tag="unsubscribes"):
    """A client no longer wants something."""

    broker: Name
    client: Name
    condition: str


class Publishes(_Step, frozen=True, kw_only=True, tag="publishes"):
    """Somebody publishes an event."""

    broker: Name
    event: dict[str, Any]


class Garbage(_Step, frozen=True, kw_only=True, tag="garbage"):
    """A packet comes over a link that nobody sent there: one that was sent elsewhere or earlier, or a made-up one."""

    one: Name
    other: Name
    seed: int


class Calm(_Step, frozen=True, kw_only=True, tag="calm"):
    """From here on nothing goes wrong: brokers run, links stand. After the promised time all must be right again."""


#: Links that get worse, brokers that crash, and so on: see `tamis.simulation.faults`.
Step: TypeAlias = (
    Subscribes
    | Unsubscribes
    | Publishes
    | Garbage
    | Calm
    | Cut
    | Heal
    | ChangeLink
    | Crash
    | Restart
    | Corrupt
    | StepClock
    | Partition
    | Reunite
)


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cast, the overlay it plays in, and what happens. What cannot happen, since others did not, is left out."""

    cast: str
    seed: int
    brokers: int
    links: tuple[tuple[int, int], ...]
    clusters: tuple[tuple[int, ...], ...] = ()
    steps: tuple[Step, ...]

    @classmethod
    def load(cls, path: Path) -> "Plan":
        """Read a plan. A file that is none is a `ValueError` that says where it is wrong."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: {error}") from None

    def save(self, path: Path) -> None:
        """Write the plan to a file, as JSON."""
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")
