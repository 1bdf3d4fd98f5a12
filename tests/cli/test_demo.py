import json
from typing import Any

import pytest

import tamis

SMALL = ["--subscriptions", "300", "--events", "5000"]


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
    done = program("demo")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "events/s" in done.stdout
