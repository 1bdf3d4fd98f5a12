"""The state of watches as bytes: what a snapshot holds, and how it is written."""

from typing import Final, TypeVar

import msgspec

from tamis.language import Notify
from tamis.notification.law import Law
from tamis.notification.structure import Row
from tamis.notification.wanted import Id

#: Before everything else; its last byte is the version of the format.
MAGIC: Final = b"tamis watch 1\n"


class Held(msgspec.Struct, frozen=True, array_like=True):
    """The subscriptions of one law, with one radius or two."""

    law: Law
    loose: bool
    serial: int
    rows: list[Row]
    pending: list[tuple[int, float, float]]


class WatchState(msgspec.Struct, frozen=True):
    """A `Watch`."""

    engine: str
    relaxed: bool
    trim: bool
    value: float | None
    #: By handle.
    ids: list[Id | None]
    free: list[int]
    held: list[Held]


class SetState(msgspec.Struct, frozen=True):
    """A `WatchSet`; the columns are the bytes of arrays."""

    by: str
    on: str
    relaxed: bool
    trim: bool
    keys: list[Id]
    ids: list[Id | None]
    free: list[int]
    #: By item: its value, NaN where there is none.
    values: bytes
    #: By subscription: the item, the kind of its tree, handle, label and epoch; both radii and the centre.
    numbers: bytes
    reals: bytes


class GateState(msgspec.Struct, frozen=True):
    """A `Gate`; the columns are the bytes of arrays."""

    #: How many keys a subscription remembers.
    keys_kept: int
    refused: int
    #: By number: the id and its clause.
    clauses: list[tuple[Id, Notify] | None]
    free: list[int]
    #: By number: how many keys were seen in this turn.
    counts: list[int]
    #: By number: the kind of a key and its bytes.
    keys: list[tuple[int, bytes]]
    #: By pair of a subscription and a key: both numbers, whether it was seen in this turn or the last, the value told.
    marks: bytes
    ages: bytes
    told: bytes


State = TypeVar("State", WatchState, SetState, GateState)


def encode(state: WatchState | SetState | GateState) -> bytes:
    """Return a state as bytes."""
    return MAGIC + msgspec.msgpack.encode(state)


def decode(snapshot: bytes, kind: type[State]) -> State:
    """Return the state that bytes hold, or raise a `ValueError` that says what is wrong with them."""
    if not snapshot.startswith(MAGIC):
        raise ValueError("this is no snapshot of a watch or gate, or one of another version of Tamis")
    try:
        return msgspec.msgpack.decode(snapshot[len(MAGIC) :], type=kind)
    except msgspec.DecodeError as error:
        raise ValueError(f"this snapshot is damaged, or not one of a {kind.__name__[:-5]}: {error}") from error
