from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.simulation import Faults, Link, Overlay, topology
from tamis.simulation.faults import ChangeLink, Crash, Cut, Fault, Heal, Partition, Restart, Reunite

NAME = st.integers(0, 9) | st.text(max_size=5)
AT = st.floats(0, 1e6)
LINK = st.builds(Link, latency=st.floats(0, 10), bandwidth=st.none() | st.floats(1, 1e9), ordered=st.booleans())
FAULT: st.SearchStrategy[Fault] = st.one_of(
    st.builds(Cut, at=AT, one=NAME, other=NAME, silent=st.booleans()),
    st.builds(Heal, at=AT, one=NAME, other=NAME),
    st.builds(ChangeLink, at=AT, one=NAME, other=NAME, link=LINK),
    st.builds(Crash, at=AT, broker=NAME, silent=st.booleans()),
    st.builds(Restart, at=AT, broker=NAME),
    st.builds(Partition, at=AT, groups=st.lists(st.lists(NAME).map(tuple)).map(tuple), silent=st.booleans()),
    st.builds(Reunite, at=AT),
)


@pytest.mark.parametrize("suffix", [".json", ".toml"])
@given(faults=st.lists(FAULT, max_size=5))
def test_a_plan_that_is_saved_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, faults: list[Fault]
) -> None:
    path = tmp_path_factory.mktemp("plan") / f"plan{suffix}"
    plan = Faults(tuple(faults))
    plan.save(path)
    assert Faults.load(path) == plan


def test_a_plan_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("""
        [[faults]]
        fault = "crash"
        at = 1.5
        broker = 3
        silent = true

        [[faults]]
        fault = "change"
        at = 2.0
        one = "a"
        other = "b"
        link = { latency = 0.5, loss = 0.1 }
    """)
    changed = ChangeLink(at=2.0, one="a", other="b", link=Link(latency=0.5, loss=0.1))
    assert Faults.load(path).faults == (Crash(at=1.5, broker=3, silent=True), changed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"faults": [{"fault": "crsh", "at": 1, "broker": 1}]}', r"Invalid value 'crsh' - at `\$.faults\[0\].fault`"),
        ('{"faults": [{"fault": "crash", "at": -1, "broker": 1}]}', "from 0 on, not at -1"),
        ('{"faults": [{"fault": "crash", "at": 1}]}', "`broker`"),
        ('{"faults": [{"fault": "crash", "at": 1, "broker": 1, "loud": true}]}', "loud"),
        ('{"faults": ', "truncated"),
    ],
)
def test_a_plan_that_is_none_is_refused_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=said) as caught:
        Faults.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_plan_is_json_or_toml(tmp_path: Path) -> None:
    for call in (Faults.load, Faults().save):
        with pytest.raises(ValueError, match=r"\.json or \.toml"):
            call(tmp_path / "plan.yaml")


def run(*faults: Fault, at: tuple[float, ...]) -> list[list[Any]]:
    """Publish at broker 0 of a line at some times; return who got each event."""
    net = Overlay(topology("line", 3), "simple", faults=Faults(faults))
    for broker in range(3):
        net.subscribe(broker, f"c{broker}", "true")
    got = []
    for time in at:
        net.run(until=time)
        event = net.publish(0, {}) if 0 in net.graph else None
        net.run(until=time + 0.5)
        got.append([client for client, delivered in net.deliveries if delivered == event])
    return got


ALL = ["c0", "c1", "c2"]


def test_faults_happen_at_their_time() -> None:
    cut, heal = Cut(at=2.0, one=1, other=2), Heal(at=4.0, one=1, other=2)
    assert run(cut, heal, at=(1.0, 3.0, 5.0)) == [ALL, ["c0", "c1"], ALL]
    assert run(Crash(at=2.0, broker=1), Restart(at=4.0, broker=1), at=(1.0, 3.0, 5.0)) == [ALL, ["c0"], ALL]
    assert run(Partition(at=2.0, groups=((0,),)), Reunite(at=4.0), at=(1.0, 3.0, 5.0)) == [ALL, ["c0"], ALL]
    slow = ChangeLink(at=2.0, one=1, other=2, link=Link(latency=9.0))
    assert run(slow, at=(1.0, 3.0)) == [ALL, ["c0", "c1"]]


def test_what_happens_at_the_same_time_happens_as_written() -> None:
    assert run(Crash(at=2.0, broker=1), Restart(at=2.0, broker=1), at=(3.0,)) == [ALL]


def test_times_count_from_when_the_plan_is_given_and_quiet_does_not_wait_for_it() -> None:
    net = Overlay(topology("line", 2), "flood")
    net.run(until=10.0)
    net.plan(Faults((Crash(at=5.0, broker=1),)))
    net.run()
    assert net.now == 10.0
    net.run(until=14.9)
    assert net.brokers == [0, 1]
    net.run(until=15.0)
    assert net.brokers == [0]


def test_a_plan_with_a_broker_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="no broker 7"):
        Overlay(topology("line", 2), faults=Faults((Restart(at=5.0, broker=7),)))


def test_a_fault_that_cannot_happen_is_named() -> None:
    net = Overlay(topology("line", 2), faults=Faults((Restart(at=5.0, broker=1),)))
    with pytest.raises(ValueError, match=r"fault at 5\.0 s, Restart: broker 1 is not down"):
        net.run(until=6.0)
