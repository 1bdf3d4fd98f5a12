"""Bloom-filter routing: matched once, forwarded by bits, and the errors of the source (specs/004 §5, §10)."""

from collections import Counter

import pytest

from tamis.routing import make_strategy
from tamis.routing.bloom import filters_of, tables
from tamis.routing.offers import Uncovered
from tamis.routing.strategies.bloom import Bloom
from tamis.simulation import Overlay
from tamis.sketches import Hashes

TABLES = sorted(tables())
LINE = (4, [(0, 1), (1, 2), (2, 3)])
STAR = (4, [(0, 1), (0, 2), (0, 3)])


def places(condition: str, hashes: Hashes) -> set[int]:
    [found] = filters_of(condition).filters
    return {place for each in found for place in hashes.places(each.text)}


@pytest.mark.parametrize("table", TABLES)
def test_an_event_is_matched_by_content_once(table: str) -> None:
    net = Overlay(LINE, routing="bloom", table=table)
    net.subscribe(3, "far", "x > 5 and y = 1")
    net.subscribe(1, "near", "x > 2 or z = 1")
    net.run()
    event = net.publish(0, {"x": 6, "y": 1})
    net.run()
    assert net.deliveries == [("near", event), ("far", event)]
    assert net.metrics.recorded_by["matches"] == {0: 1}
    assert net.metrics.sent_by_kind["Marked"] == 3


def test_verification_compares_only_where_clients_may_want_it() -> None:
    net = Overlay(LINE, routing="bloom", verify_at_edge=True)
    net.subscribe(3, "far", "x > 5")
    net.subscribe(1, "near", "x > 8")
    net.run()
    net.publish(0, {"x": 6})
    net.run()
    assert net.metrics.recorded_by["matches"] == {0: 1, 3: 1}


def test_an_event_goes_nowhere_but_where_it_is_wanted() -> None:
    net = Overlay(STAR, routing="bloom")
    for broker in (1, 2, 3):
        net.subscribe(broker, f"c{broker}", f"x = {broker}")
    net.run()
    event = net.publish(1, {"x": 2})
    net.run()
    assert net.deliveries == [("c2", event)]
    assert net.metrics.sent_by_kind["Marked"] == 2


def test_equal_conditions_go_over_a_link_once() -> None:
    net = Overlay(LINE, routing="bloom")
    for client in "abc":
        net.subscribe(0, client, "x > 5")
        net.run()
    assert net.metrics.sent_by_kind == {"Filters": 3}
    net.unsubscribe(0, "a", "x > 5")
    net.run()
    event = net.publish(3, {"x": 6})
    net.run()
    assert net.deliveries == [("b", event), ("c", event)]


@pytest.mark.parametrize("table", TABLES)
def test_colliding_bits_bring_too_much_and_never_too_little(table: str) -> None:
    """With one bit all predicates are one; yet the second condition of a client must not be taken for the first."""

    def delivered(verified: bool) -> Counter[str]:
        net = Overlay(LINE, routing="bloom", table=table, bits=1, hashes=1, verify_at_edge=verified)
        net.subscribe(3, "both", "x = 1")
        net.subscribe(3, "both", "y = 2")
        net.subscribe(2, "other", "z = 3")
        net.run()
        net.publish(0, {"y": 2})
        net.run()
        return Counter(str(client) for client, _ in net.deliveries)

    assert delivered(verified=False) == {"both": 1, "other": 1}
    assert delivered(verified=True) == {"both": 1}


@pytest.mark.parametrize("table", TABLES)
def test_a_bit_behind_the_last_of_the_event_rules_out(table: str) -> None:
    """The tail gap, which the source forgets: without it a skiptree would send the event to broker 2 as well."""
    hashes = Hashes()
    last = max(places("x > 1", hashes))
    value = next(number for number in range(100) if min(places(f"y = {number}", hashes)) > last)
    net = Overlay(STAR, routing="bloom", table=table)
    net.subscribe(1, "one", "x > 1")
    net.subscribe(2, "two", f"x > 1 and y = {value}")
    net.run()
    event = net.publish(3, {"x": 2})
    net.run()
    assert net.deliveries == [("one", event)]
    assert net.metrics.sent_by_kind["Marked"] == 2


def test_covering_would_lose_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why conditions spread by identity (specs/004 §10, 12): `x > 8`, kept back, has no bits where events enter."""

    def who_gets_it() -> list[object]:
        net = Overlay(LINE, routing="bloom")
        net.subscribe(3, "wide", "x > 5")
        net.subscribe(3, "narrow", "x > 8")
        net.run()
        net.publish(0, {"x": 9})
        net.run()
        return [client for client, _ in net.deliveries]

    assert who_gets_it() == ["wide", "narrow"]
    monkeypatch.setattr(Bloom, "pruning", lambda _: Uncovered("flat", 1, "kdtree"))
    assert who_gets_it() == ["wide"]


def test_a_condition_with_too_many_clauses_gets_everything_unless_verified() -> None:
    condition = " and ".join(f"(a{n} = 1 or b{n} = 1)" for n in range(20))
    for verified in (False, True):
        net = Overlay(LINE, routing="bloom", verify_at_edge=verified)
        net.subscribe(3, "c", condition)
        net.run()
        net.publish(0, {"z": 1})
        wanted = net.publish(0, {f"a{n}": 1 for n in range(20)})
        net.run()
        assert len(net.deliveries) == (1 if verified else 2)
        assert ("c", wanted) in net.deliveries
        assert net.metrics.recorded_by["blunt"] == {3: 1}


def test_a_client_may_have_the_name_of_a_neighbour() -> None:
    net = Overlay((2, [(0, 1)]), routing="bloom")
    net.subscribe(0, 1, "x = 1")
    net.subscribe(1, 0, "x = 2")
    net.run()
    first = net.publish(0, {"x": 2})
    second = net.publish(0, {"x": 1})
    net.run()
    assert sorted(net.deliveries, key=str) == [(0, first), (1, second)]
    assert net.metrics.sent_by_kind["Marked"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "trie"}, "no forwarding table 'trie'; there are: counting, matrix, sbstree, skiptree"),
        ({"bits": 0}, "at least one bit, not 0"),
        ({"bits": 8, "hashes": 9}, "1 to 8 hash functions"),
        ({"fingers": 4}, "its options are: engine, table, bits, hashes, verify_at_edge"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_strategy("bloom", options)


def test_it_is_exact_only_with_verification() -> None:
    assert not make_strategy("bloom").capabilities.exact
    assert make_strategy("bloom", {"verify_at_edge": True}).capabilities.exact
