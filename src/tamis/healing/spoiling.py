"""Damage on purpose, for tests and simulations: what a broker remembers becomes something else."""

from collections.abc import Sequence
from random import Random

from tamis.healing.stabilise import mendable
from tamis.routing import Machine


def spoil(machine: Machine, random: Random, items: Sequence[str]) -> None:
    """Change by chance what a broker holds from each neighbour, and what it has derived from that to something else.

    Some of what is held is lost, and some of `items` come that may never have been told. What its own clients want
    stays: nobody else could tell it again. A broker without a table for each neighbour is a `ValueError`.
    """
    broker = mendable(machine)
    known = [item for item in items if broker.is_item(item)]
    derived = random.random() < 0.5
    for turn in range(2 if derived else 1):
        for neighbour in broker.neighbours:
            share = random.random()
            held = [item for item in broker.held(neighbour) if random.random() < share]
            extra = random.sample(known, random.randint(0, min(len(known), 4)))
            broker.hold(neighbour, dict.fromkeys([*held, *extra]))
        if derived and not turn:
            # What is derived now does not fit what is held after the second turn.
            broker.derive()


def spoil_by(machine: Machine, seed: int) -> None:
    """Spoil a broker with what it knows itself, put down to others: the same for the same seed."""
    broker = mendable(machine)
    known = dict.fromkeys(broker.own())
    for neighbour in broker.neighbours:
        known.update(dict.fromkeys(broker.held(neighbour)))
    spoil(machine, Random(seed), list(known))  # noqa: S311 - a simulation, to be repeated
