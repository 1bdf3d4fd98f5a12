"""The overlay of the demonstration, with brokers in this process: the others start them for real."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from support.brokers import awaited, overlay
from tamis import parse
from tamis.cli import demo_overlay
from tamis.cli.broker_processes import Plan
from tamis.cli.demo_overlay import PLANS, OverlayDemo
from tamis.cli.demo_show import LiveShow, PlainShow, Show
from tamis.cli.errors import InputError
from tamis.client import Event

ALERTS = ["price > 10", "price > 20 and sector = 'health'", "sector is null", "price > 1000"]
EVENTS = [{"symbol": "AB", "price": 5 * number, "sector": "health"} for number in range(8)] + [{"price": 11}]
EXPECTED = {
    (event, alert)
    for event, content in enumerate(EVENTS)
    for alert, condition in enumerate(ALERTS)
    if parse(condition).matches(content)
}


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def brokers(plans: Sequence[Plan], _arguments: Sequence[str]) -> AsyncIterator[list[str]]:
        links = [(other, number) for number, plan in enumerate(plans) for other in plan.joins]
        async with overlay(len(plans), links) as servers:
            yield [server.url for server in servers]

    monkeypatch.setattr(demo_overlay, "brokers", brokers)


@awaited
async def test_every_alert_is_delivered_where_it_was_placed() -> None:
    result = await OverlayDemo(ALERTS, EVENTS, Show()).run(EXPECTED)
    assert (result.deliveries, result.missing, result.extra) == (len(EXPECTED), 0, 0)
    assert (result.brokers, result.links) == (len(PLANS), sum(len(plan.joins) for plan in PLANS))
    assert result.watched == 8
    # 0, 5, 10, 20, 30: each is away by half of what was told before. Events of several publishers may change places.
    assert 0 < result.notifications <= result.watched


@awaited
async def test_what_differs_is_counted() -> None:
    (one, *rest) = sorted(EXPECTED)
    result = await OverlayDemo(ALERTS, EVENTS, Show()).run({*rest, (0, 3)})
    assert one not in rest
    assert (result.missing, result.extra) == (1, 1)


@awaited
async def test_brokers_that_do_not_reach_each_other_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_overlay, "PATIENCE", 0.5)
    monkeypatch.setattr(demo_overlay, "PLANS", [Plan(f"b{number}", ()) for number in range(5)])
    with pytest.raises(InputError, match=r"no event came from broker b0 to b1 for 0\.5 seconds"):
        await OverlayDemo(ALERTS, EVENTS, Show()).run(EXPECTED)


@awaited
async def test_plain_lines_tell_what_happens() -> None:
    out = StringIO()
    await OverlayDemo(ALERTS, EVENTS, PlainShow(Console(file=out, width=200))).run(EXPECTED)
    lines = out.getvalue().splitlines()
    assert lines[0] == "Starting 5 brokers, each a process, with 6 links between them …"
    assert lines[1].startswith("b0 tamis://127.0.0.1:")
    assert lines[2].startswith("4 alerts and 5 watchers placed, and known to all brokers, in ")
    assert lines[-1].startswith(f"9 of 9 events published, {len(EXPECTED)} alerts delivered, ")
    assert any("; b2 is told that AB costs" in line for line in lines)


@pytest.mark.parametrize("show_type", [LiveShow, PlainShow])
def test_shows_draw_on_any_console(show_type: Any) -> None:
    out = StringIO()
    show = show_type(Console(file=out, width=100, force_terminal=True, color_system=None))
    show.brokers([("b0", "tamis://127.0.0.1:1")])
    event = Event("event-1", {"symbol": "AB", "price": 12, "sector": "health", "traded_at": 0})
    with show:
        show.match(0, 17, event)
        show.notification(0, event)
        show.update(1, 2, 1, 1)
    shown = out.getvalue()
    assert "is told that AB costs 12 (health)" in shown
    assert "1 of 2 events" in shown
    if show_type is LiveShow:
        assert "b0 alert 17: symbol=AB  price=12  sector=health" in shown
