"""Same seed, same trace, byte for byte: also in another process, whose strings have other hashes."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.routing.registry import strategies

#: A history with everything in it, for all strategies at once: starting Python takes longer than running them.
PROGRAM = """
import sys
from pathlib import Path
from random import Random
from tamis.routing.registry import strategies
from tamis.simulation import Faults, Overlay, TraceWriter, topology
from tamis.simulation.clock import random_clocks
from tamis.simulation.faults import Crash, Cut, Heal, Restart
from tamis.simulation.service import busy
import networkx as nx

folder = Path(sys.argv[1])
for name, seed in [(name, seed) for name in sorted(strategies()) for seed in (1, 2)]:
    random = Random(seed)
    kind = "degree" if strategies()[name].general else "random-tree"
    parameters = {"degree": 3} if kind == "degree" else {}
    graph = nx.relabel_nodes(topology(kind, 7, seed=seed, **parameters), lambda broker: f"broker-{broker}")
    for _, _, attributes in graph.edges(data=True):
        attributes.update(jitter=0.003, bandwidth=1e6)
    brokers = list(graph.nodes)
    one, other = next(iter(graph.edges))
    plan = Faults((
        Crash(at=0.05, broker=brokers[3]), Restart(at=0.08, broker=brokers[3]),
        Cut(at=0.1, one=one, other=other), Heal(at=0.12, one=one, other=other),
    ))
    with TraceWriter(folder / f"{name} {seed}") as trace:
        net = Overlay(
            graph, name, seed=seed, faults=plan, trace=trace, service=busy(1e-5, 1e-4),
            clocks=random_clocks(brokers, 1e-4, seed=seed),
        )
        for number in range(20):
            low = random.randrange(10)
            text = f"x between {low} and {low + 4} or s = 'w{number % 6}'"
            net.subscribe(random.choice(brokers), f"client-{number}", text)
        for broker in brokers:
            net.advertise(broker, f"publisher at {broker}", random.choice(["true", "x >= 0", "s is not null or x > 1"]))
        net.run(until=0.04)
        for number in range(30):
            net.run(until=0.04 + number * 0.004)
            broker = random.choice(brokers)
            if broker in net.graph:
                event = {"x": random.randrange(14), "s": f"w{random.randrange(9)}"}
                net.publish(broker, event, publisher=f"publisher at {broker}")
        net.run()
"""


def traces(folder: Path, hash_seed: int) -> dict[str, str]:
    folder.mkdir()
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    folder = tmp_path_factory.mktemp("traces")
    return [traces(folder / "one", 1), traces(folder / "same", 2)]


@pytest.mark.parametrize("name", sorted(strategies()))
def test_same_seed_same_trace(runs: list[dict[str, str]], name: str) -> None:
    one, same = runs
    assert one[f"{name} 1"] == same[f"{name} 1"]
    assert one[f"{name} 2"] == same[f"{name} 2"]
    assert one[f"{name} 1"] != one[f"{name} 2"]
