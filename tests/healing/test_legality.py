"""Theorem 4: tables are right everywhere if and only if each is what the neighbour owes (specs/000 §7)."""

from random import Random

import pytest

from support.spoiling import EVERY, MENDABLE, Channels, all_items, mendables, overlay
from tamis.healing import Healing, Stabilise
from tamis.healing.legality import globally_illegal, locally_illegal, spoilt
from tamis.healing.spoiling import spoil
from tamis.routing.packets import Correct
from tamis.simulation import Overlay


@pytest.mark.parametrize("number", range(len(MENDABLE)))
def test_locally_legal_everywhere_is_globally_legal_everywhere(number: int) -> None:
    legal = illegal = 0
    for seed in range(25):
        random = Random(seed)
        net = overlay(random, MENDABLE[number], Stabilise(every=EVERY), most=5)
        assert not spoilt(net.machines)
        items = all_items(net)
        for name in random.sample(net.brokers, random.randint(0, 2)):
            spoil(net.machines[name], random, items)
        for broker in mendables(net).values():
            broker.derive()
        assert not spoilt(net.machines)
        local, everywhere = locally_illegal(net.machines), globally_illegal(net.machines)
        if MENDABLE[number][0] in ("covering", "reuse-partial") or MENDABLE[number][1].get("covering"):
            # Where one of several conditions may be told, it can be another one than is held, and just as good.
            assert local or not everywhere
        else:
            assert bool(local) == bool(everywhere)
        legal, illegal = legal + (not local), illegal + bool(local)
    assert legal
    assert illegal


def test_the_edge_is_named_by_who_holds_and_from_whom() -> None:
    net = Overlay((3, [(0, 1), (1, 2)]), "identity")
    net.subscribe(0, "alice", "x > 3")
    net.run()
    assert locally_illegal(net.machines) == globally_illegal(net.machines) == []
    mendables(net)[2].hold(1, [])
    assert locally_illegal(net.machines) == globally_illegal(net.machines) == [(2, 1)]
    mendables(net)[1].hold(0, [])
    # What 1 holds is not what 0 owes. What 2 holds is what 1 owes by its table, but not what alice wants.
    assert locally_illegal(net.machines) == [(1, 0)]
    assert globally_illegal(net.machines) == [(1, 0), (2, 1)]
    assert spoilt(net.machines) == [1]


def test_what_is_on_its_way_counts_in_the_order_in_which_it_was_sent() -> None:
    net = Overlay((2, [(0, 1)]), "identity", healing=Healing(stabilise=Stabilise(every=EVERY)))
    channels = Channels()
    net.watch(channels)
    net.run()
    net.subscribe(0, "alice", "x > 3")
    net.run(until=net.now)
    net.unsubscribe(0, "alice", "x > 3")
    net.run(until=net.now)
    assert [type(each).__name__ for each in channels.packets[1, 0]] == ["Filters", "Filters"]
    assert not locally_illegal(net.machines, channels.packets)
    # The other way round it would stay.
    channels.packets[1, 0].reverse()
    assert locally_illegal(net.machines, channels.packets) == [(1, 0)]
    channels.packets[1, 0].append(Correct(("x > 3",), (), False))
    assert not locally_illegal(net.machines, channels.packets)
    channels.packets[1, 0].append(Correct((), ("x > 4",), False))
    assert locally_illegal(net.machines, channels.packets) == [(1, 0)]
