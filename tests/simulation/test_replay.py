from pathlib import Path
from typing import Any

import pytest

from tamis.routing.packets import Name
from tamis.routing.registry import strategies
from tamis.simulation import Clock, Faults, Link, Overlay, TraceWriter, topology
from tamis.simulation.faults import Crash, Cut, Heal, Restart
from tamis.simulation.replay import diff, replay
from tamis.simulation.service import busy


def write(path: Path, name: str = "simple", events: int = 5, seed: int = 1, **options: Any) -> Path:
    plan = Faults(
        (
            Crash(at=0.02, broker=1),
            Restart(at=0.03, broker=1),
            Cut(at=0.035, one=0, other=2),
            Heal(at=0.04, one=0, other=2),
        )
    )
    graph = topology("heap", 5)
    for _, _, attributes in graph.edges(data=True):
        attributes.update(jitter=0.002, bandwidth=1e6)
    with TraceWriter(path) as trace:
        clocks: dict[Name, Clock] = {1: Clock(drift=1e-3, offset=5.0)}
        net = Overlay(graph, name, seed=seed, faults=plan, clocks=clocks, trace=trace, service=busy(1e-4), **options)
        for broker in range(5):
            net.subscribe(broker, f"c{broker}", f"x > {broker} or y = 'b{broker}'")
            net.advertise(broker, f"p{broker}", "true")
        net.run(until=0.01)
        for number in range(events):
            net.run(until=0.01 * (number + 1))
            broker = (0, 2, 3, 4)[number % 4]
            net.publish(broker, {"x": number % 6, "y": f"b{number % 5}"}, publisher=f"p{broker}")
        net.run()
    return path


@pytest.mark.parametrize("name", sorted(strategies()))
def test_fresh_brokers_answer_the_same(tmp_path: Path, name: str) -> None:
    found = replay(write(tmp_path / "run.trace", name))
    assert found.difference is None
    assert found.told > 20
    assert found.records == len((tmp_path / "run.trace").read_bytes().splitlines())


def tampered(path: Path, is_it: Any, change: Any) -> tuple[Path, int]:
    """Change the first line of which something is true; return its number too."""
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if is_it(line))
    lines[place : place + 1] = change(lines[place])
    path.write_bytes(b"".join(lines))
    return path, place + 1


def is_sent_event(line: bytes) -> bool:
    return b'"is":"sent"' in line and b'"Plain"' in line


def test_another_answer_is_found_with_its_place(tmp_path: Path) -> None:
    path, place = tampered(
        write(tmp_path / "run.trace"), is_sent_event, lambda line: [line.replace(b'"neighbour":', b'"neighbour":9')]
    )
    difference = replay(path).difference
    assert difference is not None
    assert difference.line == place
    assert '"neighbour":9' in str(difference.one)
    assert "Send(neighbour=" in str(difference.other)
    lines = path.read_text().splitlines()
    assert list(difference.before) == lines[place - 4 : place - 1]


def test_an_answer_too_few_or_too_many_is_found(tmp_path: Path) -> None:
    path, _ = tampered(write(tmp_path / "few.trace"), is_sent_event, lambda _line: [])
    assert replay(path).difference is not None
    path, _ = tampered(write(tmp_path / "many.trace"), is_sent_event, lambda line: [line, line])
    assert replay(path).difference is not None


def test_what_was_told_differently_is_answered_differently(tmp_path: Path) -> None:
    path, _ = tampered(
        write(tmp_path / "run.trace"),
        lambda line: b'"is":"told"' in line and b'"Subscribe"' in line and b"c4" in line,
        lambda line: [line.replace(b"x > 4", b"x > 5")],
    )
    assert replay(path).difference is not None


def test_a_file_that_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="empty"):
        replay(path)
    path.write_bytes(b'{"is":"stopped","time":0.0,"broker":1}\n')
    with pytest.raises(ValueError, match="line 1: a trace begins with"):
        replay(path)
    path.write_bytes(
        b'{"is":"began","strategy":"simple","options":{},"seed":1}\n{"is":"stopped","time":0.0,"broker":1}\n'
    )
    with pytest.raises(ValueError, match="line 2: broker 1 has not started"):
        replay(path)
    path.write_bytes(b'{"is":"began","strategy":"simpel","options":{},"seed":1}\n')
    with pytest.raises(ValueError, match="no strategy 'simpel'"):
        replay(path)


def test_equal_traces_have_no_difference(tmp_path: Path) -> None:
    assert diff(write(tmp_path / "a"), write(tmp_path / "b")) is None


def test_the_first_difference_is_shown_with_what_stands_before(tmp_path: Path) -> None:
    difference = diff(write(tmp_path / "a"), write(tmp_path / "b", seed=2))
    assert difference is not None
    assert difference.line == 1
    assert '"seed":1' in str(difference.one)
    longer = diff(write(tmp_path / "a"), write(tmp_path / "b", events=6))
    assert longer is not None
    one, other = ((tmp_path / name).read_text().splitlines() for name in "ab")
    assert one[: longer.line - 1] == other[: longer.line - 1]
    assert list(longer.before) == one[longer.line - 4 : longer.line - 1]


def test_a_trace_that_ends_early_differs_there(tmp_path: Path) -> None:
    path = write(tmp_path / "a")
    lines = path.read_bytes().splitlines(keepends=True)
    (tmp_path / "b").write_bytes(b"".join(lines[:-1]))
    difference = diff(path, tmp_path / "b")
    assert difference is not None
    assert (difference.line, difference.other) == (len(lines), None)


def test_links_of_another_kind_make_another_history(tmp_path: Path) -> None:
    """Guards the guard: a comparison that always succeeds would be no comparison."""
    with TraceWriter(tmp_path / "a") as trace:
        net = Overlay(topology("line", 2), "flood", trace=trace)
        net.publish(0, {})
        net.run()
    with TraceWriter(tmp_path / "b") as trace:
        net = Overlay(topology("line", 2), "flood", trace=trace)
        net.change_link(0, 1, Link(latency=5.0))
        net.publish(0, {})
        net.run()
    assert diff(tmp_path / "a", tmp_path / "b") is not None
