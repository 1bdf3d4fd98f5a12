"""`tamis replay` and `tamis pipeline cover` on small files."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.spark import spark_session

EVENTS = [
    {"ts": "2026-01-01 08:00:00", "symbol": "ACME", "price": 5.0},
    {"ts": "2026-01-01 09:00:00", "symbol": "ACME", "price": 15.0},
    {"ts": "2026-01-02 08:00:00", "symbol": "ZZZ", "price": 25.0},
    {"ts": "2026-01-02 09:00:00", "symbol": "ACME", "price": 35.0},
]


@pytest.fixture(scope="module", autouse=True)
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with spark_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


def rules(path: Path, conditions: dict[str, str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("id", "condition"), *conditions.items()])
    return path


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    return path


def test_one_condition(invoke: Any, events: Path, tmp_path: Path) -> None:
    existing = rules(tmp_path / "rules.csv", {"cheap": "price < 20", "acme": "symbol = 'ACME'"})
    chart = tmp_path / "days.svg"
    given = ["replay", "price > 10", "-e", events, "--time", "ts", "--against", existing, "--plot", chart]
    result = invoke(*given, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["events"], found["days"]) == (4, {"2026-01-01": 2, "2026-01-02": 2})
    [condition] = found["conditions"]
    assert (condition["matches"], condition["elsewhere"]) == (3, 2)
    assert condition["days"] == {"2026-01-01": 1, "2026-01-02": 2}
    assert condition["overlap"] == [
        {"subscription_id": "acme", "matches": 2},
        {"subscription_id": "cheap", "matches": 1},
    ]
    assert all(event in EVENTS for event in condition["examples"])
    assert chart.read_bytes().count(b"price &gt; 10") == 1


def test_a_set_and_a_difference_on_the_screen(invoke: Any, events: Path, tmp_path: Path) -> None:
    old = rules(tmp_path / "old.csv", {"a": "price > 10", "b": "symbol = 'ACME'", "c": "price >"})
    new = rules(tmp_path / "new.csv", {"a": "price > 20", "b": "symbol = 'ACME'", "d": "price < 10"})
    result = invoke("replay", "--subscriptions", old, "-e", events)
    assert result.exit_code == 0, result.output
    assert "2 conditions over 4 events: 6 matches." in result.stdout
    assert "1 conditions are refused" in result.stderr
    chart = tmp_path / "change.svg"
    result = invoke("replay", "--diff", old, new, "-e", events, "--time", "ts", "--plot", chart)
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert "2 subscriptions change over 4 events: 1 matches are gained, 1 lost, 5 as before." in said
    assert '- {"price":15.0' in said
    assert b"2 subscriptions change" in chart.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["price > 1"], "give the history with --events FILE"),
        (["-e", "x.csv"], "give one condition, or --subscriptions FILE, or --diff OLD NEW"),
        (["price >", "-e", "x.csv"], "the condition: expected a value, found the end, at character 8"),
        (["price > 1", "-e", "x.csv", "--plot", "a.png", "--time", "ts"], "a.png: a chart is an .svg file"),
        (["price > 1", "-e", "x.csv", "--plot", "a.svg"], "name the column that says when with --time COLUMN"),
        (["price > 1", "-e", "x.csv"], "x.csv: there is no such file"),
        (["price > 1", "-e", "x.txt"], "the suffix is none of"),
        (["price > 1", "-e", "events.jsonl", "--time", "when"], "no column 'when'; there are: price, symbol, ts"),
        (["price > 1", "-e", "events.jsonl", "--against", "x.csv"], "x.csv: there is no such file"),
        (["--diff", "a", "b", "-e", "events.jsonl", "--against", "x.csv"], "not for --diff"),
    ],
)
def test_bad_input(invoke: Any, events: Path, arguments: list[str], said: str) -> None:
    assert events.name == "events.jsonl"
    result = invoke("replay", *arguments)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())


def test_cover(invoke: Any, tmp_path: Path) -> None:
    table = rules(tmp_path / "rules.csv", {"a": "x > 1", "b": "x > 2", "c": "x > 1.0", "d": "x < 1", "e": "x = 1"})
    result = invoke("pipeline", "cover", table, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [found[name] for name in ("subscriptions", "kept", "covered", "duplicate", "least")] == [5, 3, 1, 1, 1]
    assert list((tmp_path / "out" / "verdicts").glob("*.parquet"))
    result = invoke("pipeline", "cover", table)
    assert "b: x > 2 (by a)" in result.stdout
    assert "5 subscriptions become 3 without the needless ones, and 1 with 3 merged into 1." in result.stdout
    result = invoke("pipeline", "cover", table, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "is there already" in result.stderr
