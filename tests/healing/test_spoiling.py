from random import Random

import pytest

from support.spoiling import EVERY, MENDABLE, all_items, is_legal, mendables, overlay
from tamis.healing import Stabilise
from tamis.healing.legality import spoilt
from tamis.healing.spoiling import spoil
from tamis.simulation import Overlay


@pytest.mark.parametrize("number", range(len(MENDABLE)))
def test_it_spoils_tables_and_what_is_derived_but_not_what_clients_want(number: int) -> None:
    wrong = derived = 0
    for seed in range(12):
        random = Random(seed)
        net = overlay(random, MENDABLE[number], Stabilise(every=EVERY), most=4)
        own = {name: broker.own() for name, broker in mendables(net).items()}
        for machine in net.machines.values():
            spoil(machine, random, all_items(net))
        assert {name: broker.own() for name, broker in mendables(net).items()} == own
        wrong += not is_legal(net)
        derived += bool(spoilt(net.machines))
        for broker in mendables(net).values():
            broker.derive()
        assert not spoilt(net.machines)
        net.check_invariants()
    assert wrong
    assert derived


def test_a_broker_without_such_tables_is_refused() -> None:
    net = Overlay((2, [(0, 1)]), "merc")
    with pytest.raises(ValueError, match="have no table for each neighbour"):
        spoil(net.machines[0], Random(1), [])
