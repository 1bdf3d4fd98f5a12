"""`tamis top`."""

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from tamis.cli import top as module
from tamis.cli.top import Look
from tamis.client import blocking
from tamis.wire import LinkStats, SlowStats, Stats

COUNTS = {"published": 10, "delivered": 100, "dropped": 3, "refused": 0, "matchings": 20}
BEFORE = Stats(1, "b0", "ddbr", 60.0, 1.0, 1 << 28, 2, 3, COUNTS, (), ())
AFTER = Stats(
    2,
    "b0",
    "ddbr",
    62.0,
    1.5,
    1 << 28,
    2,
    3,
    {**COUNTS, "delivered": 300},
    (LinkStats("b1", 2_000),),
    (SlowStats("lazy", 1_000, 5_000_000, 3),),
)


def test_one_look_as_json(broker_url: str, invoke: Any) -> None:
    with blocking.connect(broker_url) as client, client.subscribe("x > 0"):
        client.publish({"x": 1})
        result = invoke("top", "--url", broker_url, "--once", "--every", "0.05", "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert (told["broker"], told["clients"], told["subscriptions"], told["links"]) == ("b0", 2, 1, [])
    assert told["counts"]["published"] == told["counts"]["delivered"] == 1
    assert told["rates"].keys() == told["counts"].keys()
    assert told["cpu"] >= 0


def test_one_look_for_people(broker_url: str, invoke: Any) -> None:
    result = invoke("top", "--url", broker_url, "--once", "--every", "0.05")
    assert result.exit_code == 0
    for text in ("broker b0, strategy ddbr", "1 clients, 0 subscriptions", "events published"):
        assert text in result.stdout


def test_it_goes_on_until_told_to_stop(broker_url: str, invoke: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in ([], ["--json"]):
        looks: list[Look] = []

        def counted(before: Stats, now: Stats, looks: list[Look] = looks) -> Look:
            if len(looks) == 3:
                raise KeyboardInterrupt
            looks.append(Look(before, now))
            return looks[-1]

        monkeypatch.setattr(module, "Look", counted)
        result = invoke("top", "--url", broker_url, "--every", "0.05", *arguments)
        assert result.exit_code == 0
        lines = result.stdout.splitlines()
        assert len(lines) == 3
        for line in lines:
            assert json.loads(line)["broker"] == "b0" if arguments else line.startswith("b0: 0 published/s")


def test_where_no_broker_is_it_says_so(invoke: Any) -> None:
    result = invoke("top", "--url", "tamis://127.0.0.1:1", "--once")
    assert result.exit_code == 1
    assert "no broker at 127.0.0.1:1" in result.stderr


def test_rates_are_those_between_two_looks() -> None:
    look = Look(BEFORE, AFTER)
    assert look.rates == {"published": 0.0, "delivered": 100.0, "dropped": 0.0, "refused": 0.0, "matchings": 0.0}
    assert look.cpu == 0.25
    console = Console(file=StringIO(), width=100)
    console.print(look.drawn())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for text in ("up 0:01:02, 25% CPU, 268.4 MB of memory", "100.0", "1 links", "2.0 kB", "lazy", "5.0 MB"):
        assert text in shown
    assert look.summary()["slow"] == [{"client": "lazy", "waiting": 1000, "waiting_bytes": 5_000_000, "dropped": 3}]


def test_a_broker_that_has_started_anew_has_no_rates_yet() -> None:
    look = Look(AFTER, BEFORE)
    assert set(look.rates.values()) == {0.0}
    assert look.cpu == 0.0
