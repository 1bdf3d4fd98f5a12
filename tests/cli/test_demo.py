import json
from typing import Any

import pytest

import tamis
from tamis.cli.demo_overlay import OverlayDemo, OverlayResult

SMALL = ["--subscriptions", "300", "--events", "5000", "--no-overlay"]


def test_the_summary_adds_up(invoke: Any) -> None:
    result = invoke("demo", *SMALL, "--json")
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert (summary["subscriptions"], summary["events"]) == (300, 5_000)
    assert summary["matches"] >= sum(alert["matches"] for alert in summary["busiest"]) > 0
    assert summary["wrong_events"] == 0 < summary["checked_events"]
    counts = [alert["matches"] for alert in summary["busiest"]]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) == 5
    example = summary["example"]
    assert tamis.parse(example["condition"])
    assert example["event"]
    assert summary["overlay"] is None


def test_it_can_be_read(invoke: Any) -> None:
    result = invoke("demo", *SMALL)
    assert result.exit_code == 0
    for text in ("5,000 market events", "300 alert conditions", "Busiest alerts", "Why one of them matched"):
        assert text in result.stdout


def test_the_same_seed_gives_the_same_market(invoke: Any) -> None:
    first, second, other = (
        json.loads(invoke("demo", *SMALL, "--seed", seed, "--json").stdout)["matches"] for seed in "112"
    )
    assert first == second != other


def test_a_wrong_answer_makes_the_exit_code_1(invoke: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tamis.Matches, "row", lambda _matches, _row: [0, 1, 2])
    result = invoke("demo", *SMALL, "--json")
    assert result.exit_code == 1
    assert "checked answers are wrong" in result.stderr


def test_the_program_runs_as_it_is(program: Any) -> None:
    done = program("demo", "--subscriptions", "100", "--events", "200")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for text in (
        "Starting 5 brokers",
        "b4 tamis://127.0.0.1:",
        "100 alerts and 5 watchers placed",
        "200 of 200 events published",
        "events/s",
        "exactly those of the index",
        "whenever one had moved by half",
    ):
        assert text in " ".join(done.stdout.split())


def test_deliveries_that_differ_make_the_exit_code_1(invoke: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(_demo: OverlayDemo, expected: set[tuple[int, int]], _arguments: list[str]) -> OverlayResult:
        return OverlayResult(5, 6, len(expected), 2, 1, 0, 0, 1.0, 1.0, 1.0)

    monkeypatch.setattr(OverlayDemo, "run", run)
    result = invoke("demo", *SMALL[:-1])
    assert result.exit_code == 1
    assert "2 deliveries are missing, 1 are wrong" in result.stderr
    assert json.loads(invoke("demo", *SMALL[:-1], "--json").stdout)["overlay"]["extra"] == 1
