"""What goes wrong, and when: a plan that can be written down, given to an overlay and repeated."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from tamis.routing.packets import Name
from tamis.simulation.link import Link

if TYPE_CHECKING:
    from tamis.simulation.overlay import Overlay


class _Fault(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="fault", omit_defaults=True
):
    """Something that goes wrong, or right again, so many seconds after the plan was given."""

    at: float

    def __post_init__(self) -> None:
        if not self.at >= 0:
            raise ValueError(f"a fault happens at a time from 0 on, not at {self.at}")

    @property
    def brokers(self) -> tuple[Name, ...]:
        """The brokers that are named."""
        return ()


class _LinkFault(_Fault, frozen=True, kw_only=True):
    """Something that happens to a link."""

    one: Name
    other: Name

    @property
    def brokers(self) -> tuple[Name, ...]:
        return self.one, self.other


class _BrokerFault(_Fault, frozen=True, kw_only=True):
    """Something that happens to a broker."""

    broker: Name

    @property
    def brokers(self) -> tuple[Name, ...]:
        return (self.broker,)


class Cut(_LinkFault, frozen=True, kw_only=True, tag="cut"):
    """A link goes. With `silent` nobody is told: it loses everything that is sent."""

    silent: bool = False

    def happen(self, net: "Overlay") -> None:
        net.disconnect(self.one, self.other, self.silent)


class Heal(_LinkFault, frozen=True, kw_only=True, tag="heal"):
    """A link that was cut comes back as it was."""

    def happen(self, net: "Overlay") -> None:
        net.connect(self.one, self.other)


class ChangeLink(_LinkFault, frozen=True, kw_only=True, tag="change"):
    """A link becomes better or worse."""

    link: Link

    def happen(self, net: "Overlay") -> None:
        net.change_link(self.one, self.other, self.link)


class Crash(_BrokerFault, frozen=True, kw_only=True, tag="crash"):
    """A broker crashes and forgets everything. With `silent` its neighbours are not told."""

    silent: bool = False

    def happen(self, net: "Overlay") -> None:
        net.crash(self.broker, self.silent)


class Restart(_BrokerFault, frozen=True, kw_only=True, tag="restart"):
    """A broker that crashed starts anew, its links come back, and its clients ask again for what they want."""

    def happen(self, net: "Overlay") -> None:
        net.restart(self.broker)


class Corrupt(_BrokerFault, frozen=True, kw_only=True, tag="corrupt"):
    """The tables of a broker are spoilt: what it knows of each neighbour is mixed up, by chance from a seed.

    What its own clients asked for stays. Only brokers with a table for each neighbour can be spoilt.
    """

    seed: int = 0

    def happen(self, net: "Overlay") -> None:
        net.corrupt(self.broker, self.seed)


class StepClock(_BrokerFault, frozen=True, kw_only=True, tag="clock"):
    """The clock of a broker jumps by so many seconds."""

    by: float

    def happen(self, net: "Overlay") -> None:
        net.step_clock(self.broker, self.by)


class Partition(_Fault, frozen=True, kw_only=True, tag="partition"):
    """All links between brokers of different groups go; brokers that are not named are one more group."""

    groups: tuple[tuple[Name, ...], ...]
    silent: bool = False

    @property
    def brokers(self) -> tuple[Name, ...]:
        return tuple(broker for group in self.groups for broker in group)

    def happen(self, net: "Overlay") -> None:
        net.partition(*self.groups, silent=self.silent)


class Reunite(_Fault, frozen=True, kw_only=True, tag="reunite"):
    """All links that were cut, and not healed since, come back as they were."""

    def happen(self, net: "Overlay") -> None:
        net.reunite()


Fault: TypeAlias = Cut | Heal | ChangeLink | Crash | Restart | Corrupt | StepClock | Partition | Reunite


class Faults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plan. What happens at the same time happens in the order in which it is written."""

    faults: tuple[Fault, ...] = ()

    @classmethod
    def load(cls, path: Path) -> "Faults":
        """Read a plan from a file .json or .toml. A plan that is none is a `ValueError` that says where it is wrong."""
        decode = _suffix(path, msgspec.json.decode, msgspec.toml.decode)
        try:
            plan: Faults = decode(path.read_bytes(), type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: {error}") from None
        return plan

    def save(self, path: Path) -> None:
        """Write the plan to a file .json or .toml."""
        write = _suffix(path, lambda: msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n", self._toml)
        path.write_bytes(write())

    def _toml(self) -> bytes:
        tables = (msgspec.to_builtins(fault) for fault in self.faults)
        lines = [
            "\n".join(["[[faults]]", *(f"{key} = {_toml_value(table[key])}" for key in table)]) for table in tables
        ]
        return ("\n\n".join(lines) + "\n").encode() if lines else b"faults = []\n"


def _suffix(path: Path, json: Any, toml: Any) -> Any:
    chosen = {".json": json, ".toml": toml}.get(path.suffix)
    if chosen is None:
        raise ValueError(f"{path}: a plan of faults is in a file .json or .toml")
    return chosen


def _toml_value(value: Any) -> str:
    """Return a value in TOML, which spells everything here as JSON does, except tables within tables."""
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{key} = {_toml_value(each)}" for key, each in value.items() if each is not None) + " }"
        )
    # The one character that TOML does not take as it is and JSON does.
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
