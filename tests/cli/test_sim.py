import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from tamis.routing.registry import strategies
from tamis.routing.strategies.simple import Simple

SMALL = ["sim", "--brokers", "7", "--subscriptions", "4", "--events", "40"]


def counted(invoke: Any, *arguments: str | Path) -> Any:
    result = invoke(*SMALL, *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_network_of_brokers_delivers_what_is_wanted(invoke: Any) -> None:
    found = counted(invoke)
    assert (found["strategy"], found["topology"], found["brokers"], found["links"]) == ("simple", "heap", 7, 6)
    assert (found["subscriptions"], found["publishers"], found["kept_promises"]) == (28, 7, True)
    metrics = found["metrics"]
    assert (metrics["published"], metrics["missed"]) == (40, 0)
    assert metrics["deliveries"] == metrics["expected"] > 0


def test_a_table_for_people(invoke: Any) -> None:
    result = invoke(*SMALL, "--strategy", "ddbr")
    assert result.exit_code == 0
    for text in ("ddbr on 7 brokers, 6 links (heap)", "deliveries", "destinations named", "hops", "latency", "ms"):
        assert text in result.stdout


@pytest.mark.parametrize("strategy", sorted(strategies()))
def test_every_strategy_keeps_its_promise(invoke: Any, strategy: str) -> None:
    metrics = counted(invoke, "--strategy", strategy)["metrics"]
    assert (metrics["missed"], metrics["duplicates"]) == (0, 0)


def test_the_same_seed_gives_the_same_figures(invoke: Any) -> None:
    lossy = ["--topology", "random-tree", "--loss", "0.2", "--jitter", "0.01", "--publishers", "3"]
    one, same, other = (counted(invoke, *lossy, "--seed", seed) for seed in "112")
    assert one["metrics"] == same["metrics"] != other["metrics"]
    assert one["metrics"]["lost"] > 0
    assert one["kept_promises"] is None


def test_options_of_strategy_and_topology(invoke: Any) -> None:
    found = counted(
        invoke,
        *("--topology", "degree", "--parameter", "degree=4"),
        *("--strategy", "advertisement", "--option", "engine=scan"),
    )
    assert (found["links"], found["options"]) == (14, {"engine": "scan"})


def test_clusters_of_the_topology_go_to_a_strategy_that_takes_them(invoke: Any) -> None:
    stubs = ["--topology", "transit-stub", "--brokers", "20", "--parameter", "stubs=4", "--strategy", "merc"]
    clustered = counted(invoke, *stubs)
    alone = counted(invoke, *stubs, "--option", "clusters=[]")
    assert clustered["metrics"]["missed"] == alone["metrics"]["missed"] == 0
    # Brokers between clusters match too.
    assert clustered["metrics"]["matches_per_event"] > alone["metrics"]["matches_per_event"]


def test_a_topology_from_a_file(invoke: Any, tmp_path: Path) -> None:
    (tmp_path / "net.txt").write_text("a b\nb c\n")
    assert counted(invoke, "--topology", "net.txt")["brokers"] == 3
    (tmp_path / "net.json").write_text('{"links": [["a", "b", {"latency": 0.5}], ["b", "c"]]}')
    many = ["--subscriptions", "40"]
    assert counted(invoke, "--topology", "net.json", *many)["metrics"]["latency"]["max"] > 0.5


def test_service_times_and_bandwidth_make_deliveries_later(invoke: Any) -> None:
    plain = counted(invoke)["metrics"]["latency"]["mean"]
    for slower in (
        ["--service", "0.01"],
        ["--bandwidth", "10000"],
        ["--latency", "0.1"],
        ["--jitter", "1", "--reorder"],
    ):
        assert counted(invoke, *slower)["metrics"]["latency"]["mean"] > plain


def test_faults(invoke: Any, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        '[[faults]]\nfault = "crash"\nat = 0.01\nbroker = 0\n[[faults]]\nfault = "restart"\nat = 0.02\nbroker = 0\n'
    )
    found = counted(invoke, "--faults", "plan.toml", "--subscriptions", "40")
    assert (found["faults"], found["kept_promises"]) == (2, None)
    assert found["unpublished"] > 0
    assert found["metrics"]["missed"] > 0
    result = invoke(*SMALL, "--faults", "plan.toml", "--drift", "0.001")
    assert "events not published, broker down" in result.stdout


def test_traces_are_written_replayed_and_compared(invoke: Any) -> None:
    for name in ("a", "b"):
        assert f"written: {name}.trace" in invoke(*SMALL, "--trace", f"{name}.trace").stderr
    invoke(*SMALL, "--trace", "c.trace", "--seed", "8")
    result = invoke("sim", "replay", "a.trace")
    assert result.exit_code == 0
    assert "the same answers" in result.stdout
    assert json.loads(invoke("sim", "replay", "a.trace", "--json").stdout)["difference"] is None
    result = invoke("sim", "diff", "a.trace", "b.trace")
    assert (result.exit_code, result.stdout) == (0, "The traces are the same.\n")
    result = invoke("sim", "diff", "a.trace", "c.trace")
    assert result.exit_code == 1
    assert "first difference is in line 1." in result.stdout
    assert '"seed":8' in result.stdout
    assert json.loads(invoke("sim", "diff", "a.trace", "c.trace", "--json").stdout)["line"] == 1


def test_a_replay_that_differs_makes_the_exit_code_1(invoke: Any, tmp_path: Path) -> None:
    invoke(*SMALL, "--trace", "a.trace")
    lines = (tmp_path / "a.trace").read_text().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if '"is":"sent"' in line)
    (tmp_path / "a.trace").write_text("".join(lines[:place] + lines[place + 1 :]))
    result = invoke("sim", "replay", "a.trace")
    assert result.exit_code == 1
    assert "first difference is in line" in result.stdout
    assert "brokers: " in result.stdout


def test_a_picture(invoke: Any, tmp_path: Path) -> None:
    result = invoke(*SMALL, "--picture", "net.svg")
    assert result.exit_code == 0
    assert "simple on 7 brokers" in (tmp_path / "net.svg").read_text()


def test_progress_is_drawn_on_standard_error(invoke: Any) -> None:
    result = invoke(*SMALL, "--progress")
    assert "Publishing" in result.stderr
    assert "Publishing" not in result.stdout
    assert invoke(*SMALL).stderr == ""


def test_strategies_are_listed_with_what_they_promise(invoke: Any) -> None:
    listed = json.loads(invoke("sim", "strategies", "--json").stdout)
    assert listed["flood"] == {
        "exact": True,
        "general": False,
        "advertisements": False,
        "summary": strategies()["flood"].summary,
    }
    table = invoke("sim", "strategies").stdout
    assert all(name in table for name in strategies())


def test_a_broken_promise_makes_the_exit_code_1(invoke: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Simple, "deliver", lambda _broker, _event, _clients: None)
    result = invoke(*SMALL)
    assert result.exit_code == 1
    assert "strategy 'simple' broke its promise" in result.stderr
    assert "missed, 0 unwanted, 0 twice" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--topology", "haep"], "unknown topology, which is no file either, 'haep'; did you mean heap?"),
        (["--parameter", "degree=3"], "topology 'heap' has no parameter 'degree'"),
        (["--parameter", "degree"], "--parameter degree: it is written KEY=VALUE"),
        (["--strategy", "simpel"], "there is no strategy 'simpel'"),
        (["--option", "colour=red"], "strategy 'simple': Object contains unknown field `colour`"),
        (["--topology", "degree"], "would close a circle, and strategy 'simple' routes on trees only"),
        (["--workload", "markt"], "unknown workload 'markt'; did you mean market"),
        (["--publishers", "8"], "8 publishers: there is one at a broker at most, and there are 7"),
        (["--faults", "plan.toml"], "plan.toml: No such file or directory"),
        (["--faults", "plan.yaml"], "a plan of faults is in a file .json or .toml"),
        (["--trace", "nowhere/a.trace"], "nowhere/a.trace: No such file or directory"),
        (["--picture", "net.pdf"], "net.pdf: a picture is a file .svg or .png"),
        (["replay", "a.trace"], "a.trace: No such file or directory"),
        (["diff", "a.trace", "b.trace"], "a.trace: No such file or directory"),
    ],
)
def test_bad_input_is_one_line(invoke: Any, arguments: list[str], said: str) -> None:
    first = ["sim"] if arguments[0] in ("replay", "diff") else SMALL
    result = invoke(*first, *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("tamis: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_fault_that_cannot_happen_is_named(invoke: Any, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"faults": [{"fault": "restart", "at": 0.01, "broker": 3}]}')
    result = invoke(*SMALL, "--faults", "plan.json")
    assert result.exit_code == 2
    assert result.stderr == "tamis: fault at 0.01 s, Restart: broker 3 is not down\n"


def test_a_picture_without_matplotlib_is_refused_before_the_run(invoke: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    result = invoke(*SMALL, "--picture", "net.svg")
    assert (result.exit_code, result.stderr) == (2, "tamis: the picture needs matplotlib: pip install 'tamis[lab]'\n")
