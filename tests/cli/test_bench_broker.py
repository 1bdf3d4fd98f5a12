"""`tamis bench broker`."""

import json
from typing import Any

import pytest

from tamis.cli import bench_broker as module
from tamis.client import Client

SMALL = ["--subscribers", "3", "--events", "700", "--timed", "20", "--rate", "1000"]


def test_measures_what_comes(broker_url: str, invoke: Any) -> None:
    result = invoke("bench", "broker", broker_url, *SMALL, "--size", "200", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["broker"], found["subscribers"], found["events"], found["size"]) == ("b0", 3, 700, 200)
    assert (found["deliveries"], found["missing"]) == (2_100, 0)
    latency = found["latency_ms"]
    assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["max"]
    assert found["deliveries_per_second"] == pytest.approx(3 * found["events_per_second"])
    assert found["broker_cpu_us_per_delivery"] > 0


def test_can_be_read(broker_url: str, invoke: Any) -> None:
    result = invoke("bench", "broker", broker_url, *SMALL)
    assert result.exit_code == 0
    for text in ("broker b0", "events of 128 bytes", "µs a delivery", "latency at 1,000/s, p99"):
        assert text in result.stdout


def test_what_is_missing_makes_the_exit_code_1(broker_url: str, invoke: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    publish = Client.publish_many

    async def forgets(client: Client, events: Any) -> list[str]:
        return await publish(client, list(events)[1:])

    monkeypatch.setattr(Client, "publish_many", forgets)
    monkeypatch.setattr(module, "PATIENCE", 0.3)
    result = invoke("bench", "broker", broker_url, *SMALL, "--json")
    assert result.exit_code == 1
    assert "6 deliveries are missing" in result.stderr
    # Who was served meanwhile is not known, so nobody's time is told.
    assert json.loads(result.stdout)["broker_cpu_us_per_delivery"] is None


def test_where_no_broker_is_it_says_so(invoke: Any) -> None:
    result = invoke("bench", "broker", "tamis://127.0.0.1:1", *SMALL)
    assert result.exit_code == 1
    assert "no broker at 127.0.0.1:1" in result.stderr
    result = invoke("bench", "broker", "localhost:x")
    assert result.exit_code == 2
    assert "no address" in result.stderr
