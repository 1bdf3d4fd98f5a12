"""Do brokers know what they should? Checks from outside, for tests and simulations (specs/000 §7, Definition 8).

An edge is named by who holds and from whom. *Locally legal*: what is held, after all that is on its way, is what the
neighbour owes by its own tables. *Globally legal*: it is what the clients behind that neighbour asked for. All edges
are locally legal if and only if all are globally legal (Theorem 4), on trees.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from tamis.healing.stabilise import mendable
from tamis.routing import Machine
from tamis.routing.mendable import Mendable
from tamis.routing.packets import AnyPacket, Correct, Name, unstamped

#: Who holds, and from whom.
Edge: TypeAlias = tuple[Name, Name]


def locally_illegal(
    machines: Mapping[Name, Machine], on_their_way: Mapping[Edge, Sequence[AnyPacket]] | None = None
) -> list[Edge]:
    """Return the edges whose table will not be what the neighbour owes once what is on its way has arrived.

    `on_their_way` has the packets to who holds from whom it holds, first those sent first.
    """
    brokers = {name: mendable(machine) for name, machine in machines.items()}
    coming = on_their_way or {}
    return [
        (holder, owner)
        for holder, owner in _edges(brokers)
        if set(_after(brokers[holder], owner, coming.get((holder, owner), ()))) != set(brokers[owner].owed(holder))
    ]


def globally_illegal(machines: Mapping[Name, Machine]) -> list[Edge]:
    """Return the edges whose table is not what the clients on the other side of it want. Nothing may be on its way."""
    brokers = {name: mendable(machine) for name, machine in machines.items()}
    wrong: list[Edge] = []
    for holder, owner in _edges(brokers):
        there = _own(brokers, _side(brokers, owner, holder))
        here = _own(brokers, _side(brokers, holder, owner))
        if not brokers[holder].agrees(brokers[holder].held(owner), there, here):
            wrong.append((holder, owner))
    return wrong


def spoilt(machines: Mapping[Name, Machine]) -> list[Name]:
    """Return the brokers that would tell a neighbour something else than they owe it."""
    brokers = {name: mendable(machine) for name, machine in machines.items()}
    return [
        name
        for name, broker in brokers.items()
        if any(set(broker.told(neighbour)) != set(broker.owed(neighbour)) for neighbour in broker.neighbours)
    ]


def _edges(brokers: Mapping[Name, Mendable]) -> Iterable[Edge]:
    """Go through the edges between brokers that both know of their link."""
    for name, broker in brokers.items():
        for neighbour in broker.neighbours:
            if neighbour in brokers and name in brokers[neighbour].neighbours:
                yield name, neighbour


def _after(holder: Mendable, owner: Name, packets: Iterable[AnyPacket]) -> list[str]:
    held = holder.held(owner)
    for packet in map(unstamped, packets):
        if isinstance(packet, Correct):
            gone = set(packet.gone)
            held = list(dict.fromkeys((*(item for item in held if item not in gone), *packet.come)))
        else:
            held = holder.after(held, packet)
    return held


def _side(brokers: Mapping[Name, Mendable], start: Name, but: Name) -> list[Name]:
    """Return the brokers on one side of an edge."""
    found = {start: None}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        for neighbour in brokers[name].neighbours:
            if neighbour not in found and neighbour in brokers and {name, neighbour} != {start, but}:
                found[neighbour] = None
                waiting.append(neighbour)
    return list(found)


def _own(brokers: Mapping[Name, Mendable], names: Iterable[Name]) -> list[str]:
    return list(dict.fromkeys(item for name in names for item in brokers[name].own()))
