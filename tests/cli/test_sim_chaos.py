import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tamis.healing import Healing
from tamis.simulation.chaos import casts, play

SHORT = ["sim", "--chaos", "corruption", "--hours", "0.2"]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing heal anybody."""
    known = {name: msgspec.structs.replace(cast, healing=Healing()) for name, cast in casts().items()}
    monkeypatch.setattr(play, "casts", lambda: known)


def test_promises_that_are_kept(invoke: Any) -> None:
    result = invoke(*SHORT, "--seeds", "3", "--seed", "0")
    assert result.exit_code == 0, result.stderr
    assert "All promises were kept in 0." in result.stdout
    assert "flood" in result.stdout


def test_json(invoke: Any) -> None:
    found = json.loads(invoke(*SHORT, "--cast", "identity-sketch", "--seed", "4", "--json").stdout)
    assert found["kept_promises"] is True
    assert [each["seed"] for each in found["runs"]] == [4]
    assert found["runs"][0]["outcome"]["calms"] >= 1


@pytest.mark.usefixtures("bare")
def test_a_broken_promise_is_shown_with_the_command_that_shows_it_again(invoke: Any, tmp_path: Path) -> None:
    again = ["sim", "--chaos", "corruption", "--cast", "identity-sketch", "--seed", "1", "--hours", "0.4"]
    path = tmp_path / "plan.json"
    result = invoke(*again, "--shrink", path)
    assert result.exit_code == 1
    assert "Promises were broken" in result.stdout
    assert f"again: tamis {' '.join(again)}" in result.stdout
    assert f"again: tamis sim --chaos {path}" in result.stderr
    shortest = invoke("sim", "--chaos", path, "--json")
    assert shortest.exit_code == 1
    assert json.loads(shortest.stdout)["runs"][0]["outcome"]["broken"][0]["promise"] == "right again in time"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--chaos", "rain"], "--chaos rain: a profile (crashes, network, corruption, all) or a plan, a file .json"),
        (["--chaos", "all", "--cast", "nobody"], "no cast 'nobody'"),
        (["--chaos", "nowhere.json"], "nowhere.json"),
        ([*SHORT[1:], "--cast", "flood", "--shrink", "plan.json"], "no promise is broken"),
    ],
)
def test_what_cannot_be(invoke: Any, arguments: list[str], said: str) -> None:
    result = invoke("sim", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
