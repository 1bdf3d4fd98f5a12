import json
from typing import Any


def test_shows_text_attributes_and_normal_form(invoke: Any) -> None:
    result = invoke("parse", "PRICE > 10 and not (symbol = 'A' or symbol = 'B')")
    assert result.exit_code == 0
    assert "PRICE > 10 and not (symbol = 'A' or symbol = 'B')" in result.stdout
    assert "PRICE, symbol" in result.stdout
    assert "symbol not in ('A', 'B')" in result.stdout
    assert "warning" not in result.stdout


def test_json(invoke: Any) -> None:
    parsed = json.loads(invoke("parse", "b.c = 1 and a", "--json").stdout)
    assert parsed["condition"] == "b.c = 1 and a"
    assert parsed["attributes"] == ["a", "b.c"]
    assert parsed["warnings"] == []


def test_a_clause_is_shown(invoke: Any) -> None:
    text = "symbol = 'ACME' notify price moves 5% per symbol"
    assert "notify price moves 5% per symbol" in invoke("parse", text).stdout
    notify = json.loads(invoke("parse", text, "--json").stdout)["notify"]
    assert (notify["attribute"], notify["relative"], notify["key"]) == ("price", 0.05, "symbol")
    assert json.loads(invoke("parse", "a", "--json").stdout)["notify"] is None


def test_warns_of_a_condition_that_can_never_match(invoke: Any) -> None:
    result = invoke("parse", "a > 5 and a < 3")
    assert result.exit_code == 0
    assert "this condition can never match" in result.stdout


def test_warns_of_a_condition_that_matches_everything(invoke: Any) -> None:
    warnings = json.loads(invoke("parse", "a is null or a is not null", "--json").stdout)["warnings"]
    assert warnings == ["this condition matches every event"]


def test_square_brackets_are_shown_as_they_are(invoke: Any) -> None:
    assert "'[bold]'" in invoke("parse", "a = '[bold]'").stdout


def test_an_error_has_a_caret_under_the_place(invoke: Any) -> None:
    result = invoke("parse", "price >> 5")
    assert (result.exit_code, result.stdout) == (2, "")
    message, line, caret = result.stderr.splitlines()
    assert message.startswith("tamis: ")
    assert caret.index("^") == line.index(">> 5") + 1
