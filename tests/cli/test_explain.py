import json
from pathlib import Path
from typing import Any

import pytest

CONDITION = "price > 10 and symbol = 'ACME'"


def test_explains_each_predicate(invoke: Any) -> None:
    result = invoke("explain", CONDITION, '{"price": 12, "symbol": "IBM"}')
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert any("price > 10" in line and "12" in line for line in lines)
    assert any("symbol = 'ACME'" in line and "IBM" in line for line in lines)


@pytest.mark.parametrize(
    ("event", "matched"), [('{"price": 12, "symbol": "ACME"}', True), ('{"symbol": "ACME"}', False)]
)
def test_json_says_whether_it_matched_and_the_exit_code_is_0_either_way(invoke: Any, event: str, matched: bool) -> None:
    result = invoke("explain", CONDITION, event, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["matched"] is matched


def test_the_event_can_come_from_standard_input(invoke: Any) -> None:
    result = invoke("explain", CONDITION, "-", "--json", stdin='{"price": 12, "symbol": "ACME"}')
    assert json.loads(result.stdout)["matched"] is True


class TestStored:
    @pytest.fixture(autouse=True)
    def _rules(self, tmp_path: Path) -> None:
        broken = "".join(f"{number},price >\n" for number in range(10, 20))
        (tmp_path / "rules.csv").write_text(f"id,condition\n1,price > 10\n2,price > 20\n{broken}")

    def test_a_condition_is_taken_from_the_table(self, invoke: Any) -> None:
        result = invoke("explain", "-s", "rules.csv", "--id", "2", '{"price": 12}', "--json")
        explanation = json.loads(result.stdout)
        assert explanation["condition"] == "price > 20"
        assert explanation["matched"] is False

    def test_a_refused_condition_says_why(self, invoke: Any) -> None:
        result = invoke("explain", "-s", "rules.csv", "--id", "19", "{}")
        assert result.exit_code == 2
        assert result.stderr.startswith("tamis: rules.csv: row 12: ")

    def test_an_unknown_id_is_refused(self, invoke: Any) -> None:
        result = invoke("explain", "-s", "rules.csv", "--id", "99", "{}")
        assert result.exit_code == 2
        assert result.stderr == "tamis: unknown id in rules.csv: '99'; there are 1, 2\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["a > 1"], "give a condition and an event"),
        (["a > 1", "{}", "{}"], "give a condition and an event"),
        (["a > 1", "{}", "--id", "1"], "give a condition and an event"),
        (["a > 1", "{}", "--id", "1", "-s", "r.csv"], "with --id, give the event only"),
        (["a > 1", "{oops"], "the event is not JSON"),
        (["a > 1", "[1]"], "the event is not a JSON object"),
    ],
)
def test_bad_input(invoke: Any, arguments: list[str], reason: str) -> None:
    result = invoke("explain", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"tamis: {reason}")
    assert len(result.stderr.splitlines()) == 1


def test_a_condition_that_does_not_parse_has_a_caret(invoke: Any) -> None:
    result = invoke("explain", "a >", "{}")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].strip() == "^"
