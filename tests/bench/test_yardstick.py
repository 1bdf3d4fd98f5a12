"""The yardstick's programs agree with brute force, and brute force with the language."""

import shutil
from itertools import islice
from pathlib import Path

import msgspec
import pytest

import tamis
from tamis.lab.workloads import Market, Workload, Yardstick, generate
from tamis.lab.workloads.yardstick import W_A, W_B, W_E, W_R
from yardstick import numpy_probe, probe
from yardstick.truth import true_ids

SPECS = {"w-a": W_A, "w-e": W_E, "w-b": W_B, "w-r": W_R}


def small(spec: Yardstick) -> Workload:
    return generate(msgspec.structs.replace(spec, subscriptions=3_000, events=40))


def totals(workload: Workload) -> tuple[int, int]:
    found = list(true_ids(workload, len(workload.events)))
    return sum(map(len, found)), sum(int(ids.sum()) for ids in found)


@pytest.mark.parametrize("name", SPECS)
def test_the_numpy_probe_finds_what_is_true(name: str) -> None:
    workload = small(SPECS[name])
    found = numpy_probe.run(workload, batch=16)
    assert (found.matches, found.id_sum) == totals(workload)
    assert found.matches > 0


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_compiled_probe_finds_what_is_true(tmp_path: Path) -> None:
    with probe.compiled() as program:
        assert program is not None
        for name, spec in SPECS.items():
            workload = small(spec)
            probe.write(workload, tmp_path)
            found = probe.run(program, tmp_path, len(workload.events))
            assert (found.matches, found.id_sum) == totals(workload), name
            assert (found.subscriptions, found.events) == (3_000, 40)


@pytest.mark.parametrize("spec", [W_A, Market()])
def test_brute_force_is_what_the_language_says(spec: Yardstick | Market) -> None:
    workload = generate(msgspec.structs.replace(spec, subscriptions=300, events=20))
    conditions = [tamis.parse(text) for text in workload.conditions.texts().to_pylist()]
    for event, ids in zip(islice(workload.events.rows(), 20), true_ids(workload, 20), strict=True):
        assert ids.tolist() == [number for number, each in enumerate(conditions) if each.matches(event)]


def test_the_probes_refuse_what_they_do_not_know() -> None:
    wide = generate(Yardstick(subscriptions=50, events=2, dimensions=200, alpha=0))
    with pytest.raises(probe.ProbeError, match="100 attributes"):
        numpy_probe.run(wide)
    with pytest.raises(probe.ProbeError, match="conjunctions"):
        numpy_probe.run(generate(Market(subscriptions=5, events=2)))
