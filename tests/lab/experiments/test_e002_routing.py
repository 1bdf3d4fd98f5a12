"""The experiments on routing: small runs, counted or in virtual time, so that nothing depends on the clock."""

import networkx as nx
import pytest

from tamis.lab import hundred, listings, robustness, twenty
from tamis.lab.experiment import Context, Experiment, Outcome, Scale
from tamis.lab.experiments import (
    e002_r1_line,
    e002_r2_zipf,
    e002_r3_uniform,
    e002_r4_load,
    e002_r5_lists,
    e002_r6_duplicates,
    e002_r7_copies,
    e002_r8_stored,
    e002_s1_lists_small,
    e002_s2_lists_broadcast,
    e002_s3_lists_degree_9,
    e002_s4_lists_shares,
    e002_s5_lists_clusters,
    e002_s6_organised,
    e002_s7_failed_brokers,
    e002_s8_failed_links,
    e002_s9_tables,
)
from tamis.lab.overlays import FBR


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e002_r1_line.SIZES, Scale.QUICK, ((2, 5), (100,), 0.2))
    monkeypatch.setitem(twenty.SIZES, Scale.QUICK, ((4, 8), 2.0))
    monkeypatch.setattr(listings, "EVENTS", 50)
    monkeypatch.setattr(robustness, "MORE_GRAPHS", 3)


def ours(experiment: Experiment) -> dict[str, float]:
    steps: list[tuple[int, int]] = []
    outcome: Outcome = experiment.run(Context(Scale.QUICK, 7, lambda *step: steps.append(step)))
    assert steps == [(done, len(steps) - 1) for done in range(len(steps))]
    assert all(len(row) == len(table.columns) for table in outcome.tables for row in table.rows)
    assert all(len(series.x) == len(series.y) > 0 for series in outcome.figure.series)
    found = {row.label: row.ours for row in outcome.rows}
    assert len(found) == len(outcome.rows)
    return found


def test_line() -> None:
    found = ours(e002_r1_line.EXPERIMENT)
    assert [found[f"5 brokers: matches per event, {name}"] for name in ("FBR", "D-DBR", "MERC")] == [5, 2, 3]
    assert 1 < found["5 brokers, 100 subscriptions: latency of MERC / D-DBR"] < 1.5


@pytest.mark.parametrize(("brokers", "clusters"), [(1, 1), (2, 1), (3, 2), (10, 2)])
def test_a_line_is_split_at_its_middle_broker(brokers: int, clusters: int) -> None:
    graph = e002_r1_line.split_line(brokers)
    assert len(graph.graph["clusters"]) == clusters
    assert {broker for cluster in graph.graph["clusters"] for broker in cluster} == set(range(brokers))
    if clusters == 2:
        first, second = graph.graph["clusters"]
        assert set(first) & set(second) == {brokers // 2}


def test_twenty_brokers() -> None:
    zipf = ours(e002_r2_zipf.EXPERIMENT)
    assert zipf["8 subscriptions each: latency of FBR / D-DBR"] > 1
    assert zipf["events/s that D-DBR could take / FBR, 8 subscriptions each"] > 1
    even = ours(e002_r3_uniform.EXPERIMENT)
    assert even["even, 8 subscriptions each: latency of FBR / D-DBR"] > 1


def test_load() -> None:
    found = ours(e002_r4_load.EXPERIMENT)
    assert found["D-DBR / FBR: what they can take"] > 2
    assert (
        found["MERC: events a minute that the busiest broker can take"]
        > (found[f"{e002_r4_load.EQUAL}: events a minute that the busiest broker can take"])
    )


def test_hundred_brokers() -> None:
    lists = ours(e002_r5_lists.EXPERIMENT)
    assert lists["20 brokers, MERC: destinations in a list"] < lists["20 brokers, D-DBR: destinations in a list"]
    duplicates = ours(e002_r6_duplicates.EXPERIMENT)
    assert duplicates["FBR: duplicates of one advertisement"] == duplicates["2 x links - 2 x (brokers - 1)"] > 0
    assert duplicates["20 brokers: duplicate advertisements, D-DBR"] == 0
    assert duplicates["20 brokers: duplicate advertisements, MERC"] == 0
    copies = ours(e002_r7_copies.EXPERIMENT)
    graph = hundred.graph_of(FBR, Scale.QUICK, 7)
    distance = nx.average_shortest_path_length(graph) * 19 / 20
    assert copies["20 brokers, 80%: copies for each matching broker, FBR"] == pytest.approx(distance, rel=0.1)
    stored = ours(e002_r8_stored.EXPERIMENT)
    fbr, ddbr, merc = stored.values()
    assert ddbr < merc < fbr
    # 20 brokers with 30 subscriptions each, 60 % of them everywhere else.
    assert ddbr == pytest.approx(0.6 * 600, rel=0.05)


@pytest.mark.parametrize(
    "experiment",
    [
        e002_s1_lists_small.EXPERIMENT,
        e002_s2_lists_broadcast.EXPERIMENT,
        e002_s3_lists_degree_9.EXPERIMENT,
        e002_s4_lists_shares.EXPERIMENT,
    ],
    ids=lambda experiment: experiment.id,
)
def test_lists(experiment: Experiment) -> None:
    found = ours(experiment)
    differing = {label: value for label, value in found.items() if "differ" in label}
    assert set(differing.values()) == {0}
    assert all(value >= 1 for label, value in found.items() if "mean list" in label)


def test_lists_in_clusters_do_not_grow() -> None:
    found = ours(e002_s5_lists_clusters.EXPERIMENT)
    assert found["80 brokers, 50 %: mean list, MERC"] < found["80 brokers, 50 %: mean list, D-DBR"]


def test_organised_overlays_have_shorter_ways() -> None:
    found = ours(e002_s6_organised.EXPERIMENT)
    assert found["20 brokers: mean hops after, link transit"] < found["20 brokers: mean hops before"]
    assert found["20 brokers: routing accuracy before"] == pytest.approx(1 / found["20 brokers: mean hops before"])


@pytest.mark.parametrize("failing", ["brokers", "links"])
def test_failures(failing: str) -> None:
    experiment = {"brokers": e002_s7_failed_brokers, "links": e002_s8_failed_links}[failing].EXPERIMENT
    found = ours(experiment)
    what = f"30 brokers, 50% of {failing} failed"
    assert found[f"{what}: deliveries of D-DBR / connected pairs"] == pytest.approx(1)
    assert found[f"{what}: delivered, FBR"] < found[f"{what}: delivered, D-DBR"]


def test_tables() -> None:
    found = ours(e002_s9_tables.EXPERIMENT)
    assert found["MERC, clusters of 100: n² + 8 n bytes"] == 10_800
    assert found["MERC, clusters of 100: our tables"] < 10_800
    assert (
        found["MERC, 30 brokers in clusters of 10: packets that tell of a cut link"]
        < (found["D-DBR, 30 brokers: packets that tell of a cut link"])
    )
