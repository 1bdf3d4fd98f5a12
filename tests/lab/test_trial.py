import msgspec
import numpy as np
import pytest

import tamis
from tamis.lab.trial import SCAN, built, one_thread, prepare, rows_of, task_of, try_engine
from tamis.lab.workloads import Ads, generate
from tamis.matching.engine import Rows, make_engine
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded, encode

SPEC = Ads(subscriptions=300, events=300, dimensions=20, most_predicates=15, mean_predicates=3, event_size=10)
CONJUNCTIVE = [
    SCAN,
    *(
        name
        for name, capabilities in tamis.engines().items()
        if isinstance(make_engine(name), ConjunctiveEngine) and not capabilities.arbitrary and capabilities.exact
    ),
]


def _expected() -> list[int]:
    workload = generate(SPEC, 7)
    expressions = [tamis.parse(text) for text in workload.conditions.texts().to_pylist()]
    return [sum(each.matches(event) for each in expressions) for event in workload.events.rows()]


@pytest.mark.parametrize("name", CONJUNCTIVE)
def test_an_engine_in_a_trial_finds_what_the_language_says(name: str) -> None:
    task = prepare(SPEC, 7)
    trial = try_engine(name, task)
    assert trial.matches == _expected()
    assert trial.candidates >= (0 if name == "kdtree" else np.mean(trial.matches))
    assert trial.match_microseconds > 0
    assert trial.total_bytes > trial.own_bytes >= 0


def test_a_scan_looks_at_all_and_keeps_nothing() -> None:
    trial = try_engine(SCAN, prepare(SPEC, 7))
    assert trial.candidates == SPEC.subscriptions
    assert trial.tests >= trial.candidates
    assert trial.own_bytes == 0


def test_a_task_is_the_same_after_a_trial() -> None:
    task = prepare(SPEC, 7)
    held = [task.ground.held[position].tolist() for position in range(SPEC.subscriptions)]
    for name in CONJUNCTIVE:
        try_engine(name, task)
    assert [task.ground.held[position].tolist() for position in range(SPEC.subscriptions)] == held
    task.ground.check_invariants()


def test_events_are_matched_piece_by_piece() -> None:
    task = prepare(SPEC, 7)
    sizes: list[int] = []
    engine = built(SCAN, task)

    def match(events: Encoded) -> Rows:
        sizes.append(events.rows)
        return engine.match_encoded(events)

    _, passes, matches = one_thread(match, task.events)
    assert sizes == [256, 44] * passes
    assert matches.tolist() == _expected()


def test_rows_of_is_a_part_of_the_events() -> None:
    events = [{"a": 1}, {}, {"a": 2, "b": 3}, {"b": 1}]
    task = task_of(["a = 1 and b = 3", "a = 2 and b > 1"], events)
    expected, part = encode(task.ground.space, events[1:3]), rows_of(task.events, 1, 3)
    assert part.offsets.tolist() == expected.offsets.tolist()
    assert part.dimensions.tolist() == expected.dimensions.tolist()
    assert part.leaves.tolist() == expected.leaves.tolist()


def test_a_trial_can_be_written_down() -> None:
    trial = try_engine("counting", prepare(SPEC, 7))
    assert msgspec.json.decode(msgspec.json.encode(trial), type=type(trial)) == trial
