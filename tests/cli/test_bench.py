import json
from typing import Any

import pytest

import tamis

SMALL = ["--subscriptions", "50", "--events", "300", "--batch-rows", "128"]


@pytest.mark.parametrize("engine", ["auto", "scan"])
def test_measures_and_checks(invoke: Any, engine: str) -> None:
    result = invoke("bench", *SMALL, "--engine", engine, "--json")
    assert result.exit_code == 0
    measured = json.loads(result.stdout)
    assert (measured["workload"], measured["subscriptions"], measured["events"]) == ("market", 50, 300)
    assert measured["engine"] == engine
    assert measured["batch_events_per_second"] > 0
    assert measured["single_events_per_second"] > 0
    assert measured["conditions_per_second"] > 0
    assert (measured["checked_events"], measured["wrong_events"]) == (10, 0)


def test_the_same_seed_gives_the_same_matches(invoke: Any) -> None:
    first, second, other = (
        json.loads(invoke("bench", *SMALL, "--seed", seed, "--json").stdout)["matches"] for seed in "112"
    )
    assert first == second != other


def test_prints_a_table(invoke: Any) -> None:
    result = invoke("bench", *SMALL)
    assert "events/s" in result.stdout
    assert "conditions/s" in result.stdout


def test_a_wrong_answer_makes_the_exit_code_1(invoke: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tamis.Index, "match", lambda _index, _event: [0, 1, 2])
    result = invoke("bench", *SMALL, "--json")
    assert result.exit_code == 1
    assert "checked answers are wrong" in result.stderr


def test_an_engine_that_does_not_take_the_conditions_is_bad_input(invoke: Any) -> None:
    for name, capabilities in tamis.engines().items():
        for command in ("bench", "demo"):
            alone = ["--no-overlay"] if command == "demo" else []
            result = invoke(command, "--subscriptions", "100", "--events", "100", "--engine", name, *alone)
            assert result.exit_code == (0 if capabilities.arbitrary else 2), name
            assert capabilities.arbitrary or f"engine '{name}'" in result.stderr


def test_an_unknown_workload_is_refused(invoke: Any) -> None:
    result = invoke("bench", "--workload", "markt")
    assert result.exit_code == 2
    assert result.stderr.startswith("tamis: unknown workload 'markt'; did you mean market")


def test_a_setting_that_the_workload_refuses_is_bad_input(invoke: Any) -> None:
    result = invoke("bench", "--subscriptions", "0")
    assert result.exit_code == 2
