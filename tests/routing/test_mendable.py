"""What brokers hold and owe, as texts, through random histories of overlays (specs/000 §7)."""

from typing import Any

import pytest
from hypothesis import given, settings

from support.overlays import Step, Story, steps
from support.spoiling import MENDABLE, is_legal, mendables
from tamis.routing.packets import AnyPacket
from tamis.simulation import Overlay


@pytest.mark.parametrize(("routing", "options"), MENDABLE)
def test_in_the_quiet_everybody_holds_what_is_owed_and_making_it_anew_changes_nothing(
    routing: str, options: dict[str, Any]
) -> None:
    @settings(max_examples=10, deadline=None)
    @given(steps(25))
    def check(history: list[Step]) -> None:
        story = Story(Overlay((4, [(0, 1), (1, 2), (1, 3)]), routing, **options))
        for step in history:
            story.do(step)
        story.settle()
        assert is_legal(story.net)
        brokers = mendables(story.net)
        tables = {
            (name, side): (broker.held(side), broker.told(side))
            for name, broker in brokers.items()
            for side in broker.neighbours
        }
        for broker in brokers.values():
            broker.derive()
            broker.check_invariants()
        for (name, side), (held, told) in tables.items():
            assert sorted(brokers[name].held(side)) == sorted(held)
            assert sorted(brokers[name].told(side)) == sorted(told)
            assert all(brokers[name].is_item(item) for item in (*held, *told))
        story.check()

    check()


@pytest.mark.parametrize(("routing", "options"), MENDABLE)
def test_news_make_a_broker_hold_what_they_say(routing: str, options: dict[str, Any]) -> None:
    net = Overlay((3, [(0, 1), (1, 2)]), routing, **options)
    for client, broker in (("a", 0), ("b", 2)):
        net.advertise(broker, client, "true")
        net.subscribe(broker, client, "x > 3" if broker else "y = 1 and x < 2")
    net.run()
    brokers = mendables(net)
    gone, come = brokers[1].held(0), brokers[1].held(2)
    packets: list[AnyPacket] = brokers[1].news(gone, come)
    after: list[str] = gone
    for packet in packets:
        after = brokers[1].after(after, packet)
        assert isinstance(packet, brokers[1].speaks)
        brokers[1].on_packet(0, packet)
    assert sorted(brokers[1].held(0)) == sorted(after) == sorted(come)
    brokers[1].check_invariants()


@pytest.mark.parametrize(("routing", "options"), MENDABLE)
def test_texts_that_are_no_items_are_told_apart(routing: str, options: dict[str, Any]) -> None:
    broker = mendables(Overlay((1, []), routing, **options))[0]
    for text in ("", "x >", "x>3", "@least", "@advert (", "@advert x>3", "7-3", "1-99999999999999999999", "{}", "5 {}"):
        assert not broker.is_item(text)
