import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

import tamis
from tamis.language.limits import MAX_TEXT_BYTES

CONDITIONS = {
    "cheap": "price < 10",
    "acme": "symbol = 'ACME' and price between 10 and 20",
    "tagged": "array_contains(tags, 'hot') or order.size > 5",
    "absent": "volume is null",
}
EVENTS: list[dict[str, Any]] = [
    {"symbol": "ACME", "price": 12, "tags": ["hot", "new"]},
    {"symbol": "ACME", "price": 9.5, "volume": 3},
    {"symbol": "IBM", "price": 30, "order": {"size": 7}, "volume": 1},
    {"symbol": "IBM", "price": 30, "volume": 1, "tags": []},
]
EXPECTED = {
    (row, name)
    for row, event in enumerate(EVENTS, start=1)
    for name, text in CONDITIONS.items()
    if tamis.parse(text).matches(event)
}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.jsonl"
    path.write_text("".join(json.dumps({"id": i, "condition": c}) + "\n" for i, c in CONDITIONS.items()))
    return path


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    return path


def _json_pairs(output: str) -> set[tuple[int, Any]]:
    pairs = [json.loads(line) for line in output.splitlines()]
    assert len({(pair["row"], pair["id"]) for pair in pairs}) == len(pairs)
    return {(pair["row"], pair["id"]) for pair in pairs}


def test_the_expected_answer_is_not_trivial() -> None:
    assert {(1, "acme"), (1, "tagged"), (1, "absent"), (2, "cheap"), (3, "tagged")} == EXPECTED


class TestOutput:
    def test_json_lines(self, invoke: Any, rules: Path, events: Path) -> None:
        for flags in (["--json"], ["--format", "jsonl"]):
            result: Result = invoke("match", "-s", rules, "-e", events, *flags)
            assert result.exit_code == 0
            assert _json_pairs(result.stdout) == EXPECTED

    def test_csv_is_what_a_pipe_gets(self, invoke: Any, rules: Path, events: Path) -> None:
        result = invoke("match", "-s", rules, "-e", events)
        header, *lines = result.stdout.splitlines()
        assert header == "row,id"
        assert {(int(row), name.strip('"')) for row, name in (line.split(",") for line in lines)} == EXPECTED

    def test_table(self, invoke: Any, rules: Path, events: Path) -> None:
        result = invoke("match", "-s", rules, "-e", events, "--format", "table")
        assert "tagged" in result.stdout
        assert result.stdout.count("│") == 2 * len(EXPECTED) + len(EXPECTED)

    def test_a_long_table_is_cut_and_says_so(self, invoke: Any, tmp_path: Path) -> None:
        (tmp_path / "r.csv").write_text("id,condition\n1,a >= 0\n")
        (tmp_path / "e.csv").write_text("a\n" + "1\n" * 100)
        result = invoke("match", "-s", "r.csv", "-e", "e.csv", "--format", "table")
        assert "and 60 more" in result.stdout

    @pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
    def test_files(self, invoke: Any, rules: Path, events: Path, tmp_path: Path, suffix: str) -> None:
        out = tmp_path / f"pairs.{suffix}"
        result = invoke("match", "-s", rules, "-e", events, "-o", out)
        assert result.exit_code == 0
        assert result.stdout == ""
        if suffix == "parquet":
            found = {(pair["row"], pair["id"]) for pair in pq.read_table(out).to_pylist()}
        elif suffix == "jsonl":
            found = _json_pairs(out.read_text())
        else:
            lines = out.read_text().splitlines()[1:]
            found = {(int(row), name.strip('"')) for row, name in (line.split(",") for line in lines)}
        assert found == EXPECTED
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([rules.name, events.name, out.name])

    def test_integer_ids_stay_integers(self, invoke: Any, tmp_path: Path) -> None:
        (tmp_path / "r.csv").write_text("id,condition\n7,a > 1\n12,a > 2\n")
        (tmp_path / "e.csv").write_text("a\n2\n3\n")
        invoke("match", "-s", "r.csv", "-e", "e.csv", "-o", "o.parquet")
        table = pq.read_table("o.parquet")
        assert table.schema == pa.schema([("row", pa.int64()), ("id", pa.int64())])
        assert {(pair["row"], pair["id"]) for pair in table.to_pylist()} == {(1, 7), (2, 7), (2, 12)}

    def test_no_match_is_no_error(self, invoke: Any, tmp_path: Path) -> None:
        (tmp_path / "r.csv").write_text("id,condition\n7,a > 100\n")
        (tmp_path / "e.csv").write_text("a\n2\n3\n")
        result = invoke("match", "-s", "r.csv", "-e", "e.csv")
        assert (result.exit_code, result.stdout) == (0, "row,id\n")
        assert result.stderr.startswith("1 subscriptions, 2 events, 0 matches, 0 rejects, ")

    @pytest.mark.parametrize("empty", ["r.csv", "e.csv"])
    def test_empty_tables(self, invoke: Any, tmp_path: Path, empty: str) -> None:
        (tmp_path / "r.csv").write_text("id,condition\n7,a > 1\n")
        (tmp_path / "e.csv").write_text("a\n2\n")
        path = tmp_path / empty
        path.write_text(path.read_text().splitlines()[0] + "\n")
        result = invoke("match", "-s", "r.csv", "-e", "e.csv")
        assert (result.exit_code, result.stdout) == (0, "row,id\n")


class TestInput:
    def test_formats_agree(self, invoke: Any) -> None:
        rng = np.random.default_rng(3)
        table = pa.table(
            {
                "price": np.round(rng.uniform(0, 10, 300), 2),
                "size": rng.integers(0, 10, 300),
                "symbol": pa.array(rng.choice(["A", "B", 'it\'s, "x"'], 300)),
                "live": rng.random(300) < 0.5,
            }
        )
        texts = {1: "price > 5 and live", 2: "symbol in ('A', 'it''s, \"x\"') or size = 3", 3: "not (size <= 7)"}
        pq.write_table(pa.table({"id": list(texts), "condition": list(texts.values())}), "r.parquet")
        pq.write_table(table, "e.parquet")
        pa.csv.write_csv(table, "e.csv")
        Path("e.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
        expected = {
            (row, id_)
            for row, event in enumerate(table.to_pylist(), start=1)
            for id_, text in texts.items()
            if tamis.parse(text).matches(event)
        }
        for name in ("e.parquet", "e.csv", "e.jsonl"):
            result = invoke("match", "-s", "r.parquet", "-e", name, "--json", "--batch-rows", "64")
            assert _json_pairs(result.stdout) == expected, name

    def test_standard_input(self, invoke: Any, rules: Path, events: Path) -> None:
        result = invoke("match", "-s", rules, "-e", "-", "--json", stdin=events.read_text())
        assert _json_pairs(result.stdout) == EXPECTED
        result = invoke("match", "-s", "-", "-e", events, "--json", stdin=rules.read_text())
        assert _json_pairs(result.stdout) == EXPECTED

    def test_a_given_format_wins_over_the_suffix(self, invoke: Any, tmp_path: Path) -> None:
        (tmp_path / "r.txt").write_text("id,condition\n7,a > 1\n")
        flags = ["--subscriptions-format", "csv", "--events-format", "csv", "--json"]
        result = invoke("match", "-s", "r.txt", "-e", "-", *flags, stdin="a\n2\n")
        assert _json_pairs(result.stdout) == {(1, 7)}

    def test_values_of_mixed_types_keep_their_own(self, invoke: Any, tmp_path: Path) -> None:
        (tmp_path / "r.csv").write_text("id,condition\n1,a = 1\n2,a = '1'\n3,a\n4,a > 9007199254740992\n")
        lines = '{"a": 1}\n{"a": "1"}\n{"a": true}\n{"a": 9007199254740993}\n{"a": 0.5}\n{}\n'
        result = invoke("match", "-s", "r.csv", "-e", "-", "--json", stdin=lines)
        assert _json_pairs(result.stdout) == {(1, 1), (2, 2), (3, 3), (4, 4)}

    def test_every_engine_gives_the_same_answer(self, invoke: Any, rules: Path, events: Path) -> None:
        for name, capabilities in tamis.engines().items():
            if capabilities.arbitrary:
                result = invoke("match", "-s", rules, "-e", events, "--json", "--engine", name)
                assert _json_pairs(result.stdout) == EXPECTED, name

    def test_a_condition_that_the_engine_does_not_take_is_named(self, invoke: Any, tmp_path: Path) -> None:
        (tmp_path / "r.csv").write_text("id,condition\n1,a > 1\n2,a > 1 or b > 2\n")
        (tmp_path / "e.csv").write_text("a,b\n2,3\n")
        for name, capabilities in tamis.engines().items():
            result = invoke("match", "-s", "r.csv", "-e", "e.csv", "--engine", name)
            if capabilities.arbitrary:
                assert result.exit_code == 0, name
                assert sorted(result.stdout.splitlines()) == ["1,1", "1,2", "row,id"], name
            else:
                assert (result.exit_code, result.stdout) == (2, ""), name
                assert result.stderr.startswith(f"tamis: r.csv: row 2: engine '{name}'")


class TestRejects:
    @pytest.fixture(autouse=True)
    def _files(self, tmp_path: Path) -> None:
        (tmp_path / "r.csv").write_text("id,condition\n1,a > 1\n2,a >\n,a > 2\n4,a > 2\n5\n")
        (tmp_path / "e.jsonl").write_text('{"a": 2}\n{oops\n[1]\n{"a": 3}\n')

    def test_are_counted_shown_and_kept_while_the_rest_goes_on(self, invoke: Any) -> None:
        result = invoke("match", "-s", "r.csv", "-e", "e.jsonl", "-o", "o.jsonl")
        assert result.exit_code == 0
        assert _json_pairs(Path("o.jsonl").read_text()) == {(1, 1), (4, 1), (4, 4)}
        kept = [json.loads(line) for line in Path("o.jsonl.rejects.jsonl").read_text().splitlines()]
        assert {(reject["file"], reject["row"]) for reject in kept} == {
            ("r.csv", 2),
            ("r.csv", 3),
            ("r.csv", 5),
            ("e.jsonl", 2),
            ("e.jsonl", 3),
        }
        by_row = {(reject["file"], reject["row"]): reject for reject in kept}
        assert by_row["r.csv", 2]["content"] == {"id": "2", "condition": "a >"}
        assert "(at character " in by_row["r.csv", 2]["reason"]
        assert by_row["e.jsonl", 2]["content"] == "{oops"
        *shown, summary = result.stderr.splitlines()
        assert len(shown) == 5
        assert all(line.startswith("rejected: ") for line in shown)
        assert summary.startswith("2 subscriptions, 2 events, 3 matches, 5 rejects, ")

    def test_can_go_to_a_file_of_their_own(self, invoke: Any) -> None:
        result = invoke("match", "-s", "r.csv", "-e", "e.jsonl", "--rejects", "bad.jsonl", "--json")
        assert _json_pairs(result.stdout) == {(1, 1), (4, 1), (4, 4)}
        assert len(Path("bad.jsonl").read_text().splitlines()) == 5

    def test_strict_writes_nothing(self, invoke: Any, tmp_path: Path) -> None:
        before = sorted(path.name for path in tmp_path.iterdir())
        result = invoke("match", "-s", "r.csv", "-e", "e.jsonl", "-o", "o.jsonl", "--rejects", "b.jsonl", "--strict")
        assert result.exit_code == 2
        assert result.stderr.startswith("tamis: r.csv: row ")
        assert len(result.stderr.splitlines()) == 1
        assert sorted(path.name for path in tmp_path.iterdir()) == before

    def test_strict_holds_standard_output_back(self, invoke: Any) -> None:
        Path("good.csv").write_text("id,condition\n1,a > 1\n")
        flags = ["--json", "--strict", "--batch-rows", "1"]
        result = invoke("match", "-s", "good.csv", "-e", "e.jsonl", *flags)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("tamis: e.jsonl: row 2: not JSON: ")
        result = invoke("match", "-s", "good.csv", "-e", "-", *flags, stdin='{"a": 2}\n{"a": 0}\n')
        assert (result.exit_code, result.stdout) == (0, '{"row":1,"id":1}\n')


GOOD_RULES = b"id,condition\n1,a > 1\n"
GOOD_EVENTS = b'{"a": 2}\n'
TOO_LONG = b"id,condition\n1,a = '" + b"x" * MAX_TEXT_BYTES + b"'\n"


@pytest.mark.parametrize(
    ("rules_name", "rules_content", "events_name", "events_content", "reason"),
    [
        ("r.csv", None, "e.jsonl", GOOD_EVENTS, "r.csv: No such file or directory"),
        ("r.csv", GOOD_RULES, "e.jsonl", None, "e.jsonl: No such file or directory"),
        ("r.csv", b"", "e.jsonl", GOOD_EVENTS, "r.csv: the header line"),
        ("r.csv", b"\xff\xfe\x00", "e.jsonl", GOOD_EVENTS, "r.csv: not readable as CSV"),
        ("r.parquet", b"id,condition\n", "e.jsonl", GOOD_EVENTS, "r.parquet: not readable as Parquet"),
        ("r.txt", GOOD_RULES, "e.jsonl", GOOD_EVENTS, "r.txt: the suffix"),
        ("r.csv", b"key,condition\n1,a > 1\n", "e.jsonl", GOOD_EVENTS, "r.csv: the column 'id' is missing"),
        ("r.csv", b"id,rule\n1,a > 1\n", "e.jsonl", GOOD_EVENTS, "r.csv: the column 'condition' is missing"),
        ("r.csv", GOOD_RULES + b"1,a > 2\n", "e.jsonl", GOOD_EVENTS, "r.csv: row 2: the id '1' is already used"),
        ("r.jsonl", b'{"id": 1.5, "condition": "a > 1"}', "e.jsonl", GOOD_EVENTS, "r.jsonl: row 1: the id 1.5"),
        ("r.jsonl", b'{"id": true, "condition": "a > 1"}', "e.jsonl", GOOD_EVENTS, "r.jsonl: row 1: the id True"),
        ("r.jsonl", b'{"id": [1], "condition": "a > 1"}', "e.jsonl", GOOD_EVENTS, "r.jsonl: row 1: the id [1]"),
        ("r.csv", TOO_LONG, "e.jsonl", GOOD_EVENTS, "r.csv: row 1: the condition is longer than 65,536 bytes"),
        ("r.csv", b"id,condition\n1,a >\n", "e.jsonl", GOOD_EVENTS, "r.csv: row 1: no usable subscription"),
        ("r.csv", GOOD_RULES, "e.jsonl", b"a,b\n1,2\n", "e.jsonl: no usable event"),
        ("r.csv", GOOD_RULES, "e.parquet", b"PAR1garbagePAR1", "e.parquet: not readable as Parquet"),
        ("r.csv", GOOD_RULES, "e.csv", b"a,a\n1,2\n", "e.csv: two columns are called 'a'"),
        ("r.csv", GOOD_RULES, "e.csv", b"a\n\xff\n", "e.csv: row 1: not readable as CSV"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2_and_nothing_is_written(
    invoke: Any,
    tmp_path: Path,
    rules_name: str,
    rules_content: bytes | None,
    events_name: str,
    events_content: bytes | None,
    reason: str,
) -> None:
    for name, content in ((rules_name, rules_content), (events_name, events_content)):
        if content is not None:
            (tmp_path / name).write_bytes(content)
    (tmp_path / "o.csv").write_text("old")
    before = sorted(path.name for path in tmp_path.iterdir())
    result = invoke("match", "-s", rules_name, "-e", events_name, "-o", "o.csv")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith(f"tamis: {reason}")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "o.csv").read_text() == "old"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["-s", "-", "-e", "-"], "only one of --subscriptions and --events can be standard input"),
        (["-s", "r.csv", "-e", "-", "--engine", "sacn"], "unknown engine 'sacn'; did you mean scan?"),
        (["-s", "r.csv", "-e", "-", "-o", "none/o.csv"], "none/o.csv.rejects.jsonl: cannot be written: No such file"),
        (["-s", "r.csv", "-e", "-", "-o", "o.txt"], "o.txt: the suffix"),
        (["-s", "r.csv", "-e", "-", "--events-format", "parquet"], "standard input: Parquet is read from its end"),
    ],
)
def test_bad_flags_are_one_line_and_exit_code_2(invoke: Any, tmp_path: Path, flags: list[str], reason: str) -> None:
    (tmp_path / "r.csv").write_bytes(GOOD_RULES)
    result = invoke("match", *flags, stdin='{"a": 2}\n')
    assert result.exit_code == 2
    assert result.stderr.startswith(f"tamis: {reason}")
    assert len(result.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


def test_events_that_cannot_be_read_leave_standard_output_empty(invoke: Any, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(GOOD_RULES)
    result = invoke("match", "-s", "r.csv", "-e", "none.parquet")
    assert (result.exit_code, result.stdout) == (2, "")


def test_damage_found_half_way_leaves_nothing(invoke: Any, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(GOOD_RULES)
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"a": np.random.default_rng(1).random(20_000)}), path, row_group_size=1_000)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 12_000] = b"\xff" * 12_000
    path.write_bytes(content)
    result = invoke("match", "-s", "r.csv", "-e", path, "-o", "o.parquet", "--batch-rows", "1000")
    assert result.exit_code == 2
    assert "e.parquet: row " in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["e.parquet", "r.csv"]


def test_a_pipe_through_the_program(program: Any, rules: Path, events: Path) -> None:
    done = program("match", "-s", rules, "-e", "-", "--json", stdin=events.read_text())
    assert done.returncode == 0
    assert _json_pairs(done.stdout) == EXPECTED
    assert done.stderr.startswith("4 subscriptions, 4 events, 5 matches, 0 rejects, ")


def test_the_program_shows_no_traceback(program: Any, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(GOOD_RULES + b"1,a > 2\n")
    done = program("match", "-s", "r.csv", "-e", "none.jsonl", "-o", "o.csv")
    assert done.returncode == 2
    assert done.stderr == "tamis: r.csv: row 2: the id '1' is already used in row 1\n"
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


def test_a_hundred_thousand_events_against_a_thousand_conditions(program: Any) -> None:
    rng = np.random.default_rng(5)
    rows = 100_000
    symbols = rng.integers(0, 50, rows)
    price = np.round(rng.uniform(0, 100, rows), 2)
    table = pa.table({"symbol": pa.array([f"S{number}" for number in symbols]), "price": price})
    pq.write_table(table, "events.parquet", row_group_size=10_000)
    wanted = rng.integers(0, 50, 1_000)
    low = np.round(rng.uniform(0, 99, 1_000), 2)
    texts = [
        f"symbol = 'S{symbol}' and price between {start:.2f} and {start + 1:.2f}"
        for symbol, start in zip(wanted, low, strict=True)
    ]
    pq.write_table(pa.table({"id": range(1_000), "condition": texts}), "rules.parquet")
    done = program("match", "-s", "rules.parquet", "-e", "events.parquet", "-o", "pairs.parquet", "--progress")
    assert done.returncode == 0
    assert "Matching events" in done.stderr
    counts = np.bincount(pq.read_table("pairs.parquet")["id"].to_numpy(), minlength=1_000)
    expected = [
        int(np.count_nonzero((symbols == symbol) & (price >= start) & (price <= round(start + 1, 2))))
        for symbol, start in zip(wanted, low, strict=True)
    ]
    assert counts.tolist() == expected
    assert sum(expected) > 10_000
