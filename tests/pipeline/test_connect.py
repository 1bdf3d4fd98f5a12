"""`cover`, `replay` and `diff` through Spark Connect say what `tamis.covers` and an index say."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tamis
from support import connect_job
from support.connect_job import EVENTS, NEW, OLD

#: Connect starts a server of its own; on a busy machine that takes long.
PATIENCE = 600.0


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("connect")
    command = [sys.executable, str(Path(connect_job.__file__)), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=folder)
    assert done.returncode == 0, done.stderr[-5_000:]
    printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return printed


def matches(conditions: dict[str, str]) -> dict[tuple[int, str], str]:
    """Return the matches of all events, with the day, as an index finds them."""
    index = tamis.Index()
    for id, text in conditions.items():
        if id != "bad":
            index.add(id, text)
    return {
        (event["n"], str(id)): event["day"].isoformat() for event in EVENTS for id in index.match({"x": event["x"]})
    }


@pytest.mark.elsewhere
def test_needless_conditions(found: dict[str, Any]) -> None:
    verdicts = found["verdicts"]
    assert {id for id, _, _ in verdicts} == OLD.keys() - {"bad"}
    assert [id for id, verdict, _ in verdicts if verdict == "unsatisfiable"] == ["never"]
    kept = {id for id, verdict, _ in verdicts if verdict == "kept"}
    for id, verdict, by in verdicts:
        if verdict in ("covered", "duplicate"):
            assert by in kept
            assert tamis.covers(OLD[by], OLD[id])
        elif verdict == "kept":
            assert not any(tamis.covers(OLD[other], OLD[id]) for other in kept - {id})
    counted = Counter(verdict for _, verdict, _ in verdicts)
    assert found["counts"] == [counted[name] for name in ("kept", "covered", "duplicate", "unsatisfiable", "refused")]
    assert found["merged"] == [sum(len(ids) for _, ids in found["mergeable"]), len(found["mergeable"])]
    for condition, ids in found["mergeable"]:
        assert all(tamis.covers(condition, OLD[id]) for id in ids)


@pytest.mark.elsewhere
def test_what_would_have_been(found: dict[str, Any]) -> None:
    now, before = matches(NEW), matches(OLD)
    elsewhere = {n for n, _ in before}
    totals = {id: (count, shared) for id, count, shared in found["totals"]}
    assert set(totals) == set(NEW)
    for id, (count, shared) in totals.items():
        mine = [n for n, other in now if other == id]
        assert (count, shared) == (len(mine), len([n for n in mine if n in elsewhere]))
    assert found["events"] == len(EVENTS)
    assert found["days"] == [[f"2026-01-0{day}", 50] for day in (1, 2, 3)]
    volume = Counter((id, day) for (_, id), day in now.items())
    assert found["volume"] == sorted([[id, day, count] for (id, day), count in volume.items()], key=str)
    shared = Counter((id, other) for n, id in now for m, other in before if n == m)
    assert all(count == shared[id, other] for id, other, count in found["overlap"])
    assert len(found["overlap"]) == sum(min(10, len({b for a, b in shared if a == id})) for id in NEW)
    assert {id for id, _, _ in found["examples"]} == {id for _, id in now}


@pytest.mark.elsewhere
def test_who_gains_and_loses(found: dict[str, Any]) -> None:
    now, before = matches(NEW), matches(OLD)
    sums = [
        len(EVENTS),
        len(now.keys() - before.keys()),
        len(before.keys() - now.keys()),
        len(now.keys() & before.keys()),
    ]
    assert found["sums"] == sums
    changed = {id: [gained, lost, both] for id, gained, lost, both in found["changes"]}
    for id, counts in changed.items():
        new, old = ({n for n, other in each if other == id} for each in (now, before))
        assert counts == [len(new - old), len(old - new), len(new & old)]
    assert set(changed) == {id for _, id in now.keys() ^ before.keys()}
    assert {id for id, _ in found["changed examples"]} == set(changed)
