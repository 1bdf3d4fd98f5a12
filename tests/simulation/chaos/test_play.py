from pathlib import Path

import msgspec
import pytest

from tamis.healing import Healing
from tamis.simulation import TraceWriter
from tamis.simulation.chaos import Plan, casts, planned, play, profiles, run, shrunk
from tamis.simulation.chaos.plan import Calm, Publishes, Subscribes
from tamis.simulation.replay import replay


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing heal anybody."""
    known = {name: msgspec.structs.replace(cast, healing=Healing()) for name, cast in casts().items()}
    monkeypatch.setattr(play, "casts", lambda: known)


def broken(plan: Plan) -> str | None:
    outcome = run(plan)
    return outcome.broken[0].promise if outcome.broken else None


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("profile", "cast"),
    [
        ("corruption", "identity-sketch"),
        ("corruption", "covering-full"),
        ("corruption", "mics-full"),
        ("network", "bloom-full"),
        ("network", "reuse-partial-full"),
        ("network", "simple-full"),
    ],
)
def test_without_healing_promises_break(profile: str, cast: str) -> None:
    assert "right again in time" in {broken(planned(profile, cast, seed, 0.4)) for seed in range(4)}


def test_a_run_is_what_it_says() -> None:
    plan = planned("all", "covering-full", 3, 0.3)
    outcome = run(plan)
    assert not outcome.broken
    assert outcome.steps + outcome.left_out == len(plan.steps)
    assert outcome.calms == sum(isinstance(step, Calm) for step in plan.steps) >= 2
    assert outcome.probes == 7 * plan.brokers * outcome.calms
    assert 0 < outcome.probe_deliveries < outcome.deliveries
    assert outcome.virtual_seconds >= 0.3 * 3600


def test_the_same_plan_gives_the_same_history(tmp_path: Path) -> None:
    plan = planned("all", "identity-ages", 5, 0.1)
    for name in ("one", "two"):
        with TraceWriter(tmp_path / name) as trace:
            run(plan, trace)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    # Tables that are spoilt and packets that nobody sent are repeated, too.
    assert replay(tmp_path / "one").difference is None


@pytest.mark.usefixtures("bare")
def test_a_plan_that_breaks_a_promise_is_made_short(tmp_path: Path) -> None:
    plan = next(plan for seed in range(9) if broken(plan := planned("corruption", "identity-sketch", seed, 0.4)))
    left: list[int] = []
    short = shrunk(plan, left.append)
    assert broken(short) == broken(plan)
    assert left == sorted(left, reverse=True)
    # A subscription, what spoils it, and the calm in which it is missed.
    assert len(short.steps) <= 6
    assert {Subscribes, Calm} <= {type(step) for step in short.steps}
    for number in range(len(short.steps)):
        fewer = short.steps[:number] + short.steps[number + 1 :]
        assert broken(msgspec.structs.replace(short, steps=fewer)) != broken(plan)
    short.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == short


def test_a_plan_that_breaks_nothing_is_not_made_short() -> None:
    with pytest.raises(ValueError, match="breaks no promise"):
        shrunk(Plan(cast="flood", seed=0, brokers=2, links=((0, 1),), steps=(Calm(at=1.0),)))


def test_what_cannot_happen_is_left_out() -> None:
    steps = (Publishes(at=0.0, broker=7, event={}), Publishes(at=1.0, broker=1, event={}), Calm(at=2.0))
    outcome = run(Plan(cast="flood", seed=0, brokers=2, links=((0, 1),), steps=steps))
    assert (outcome.steps, outcome.left_out) == (2, 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "truncated"),
        ('{"cast": "flood"}', "missing required field"),
        ('{"cast": "flood", "seed": 0, "brokers": 1, "links": [], "steps": [{"fault": "rain", "at": 1}]}', "rain"),
    ],
)
def test_files_that_are_no_plan(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"plan.json: .*{problem}"):
        Plan.load(path)


def test_names_that_are_none() -> None:
    with pytest.raises(ValueError, match="no profile 'rain'; there are: crashes"):
        planned("rain", "flood", 0, 1)
    with pytest.raises(ValueError, match="no cast 'nobody'; there are: flood"):
        planned("all", "nobody", 0, 1)
    with pytest.raises(ValueError, match="'ddbr' promises nothing under 'corruption': it withstands crash, silence"):
        planned("corruption", "ddbr", 0, 1)
    with pytest.raises(ValueError, match="no cast 'nobody'"):
        run(Plan(cast="nobody", seed=0, brokers=1, links=(), steps=()))


@pytest.mark.parametrize("profile", profiles())
def test_seeds_take_turns(profile: str) -> None:
    able = {cast.name for cast in casts().values() if cast.withstands & set(profiles()[profile])}
    assert {planned(profile, None, seed, 0.01).cast for seed in range(len(able))} == able
    assert (
        planned(profile, None, 3, 0.1) == planned(profile, None, 3, 0.1) != planned(profile, None, 3 + len(able), 0.1)
    )
