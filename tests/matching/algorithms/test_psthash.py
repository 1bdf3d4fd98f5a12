from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from support.histories import check_histories, crowded_conjunctions, crowded_events
from tamis.language import Expression
from tamis.matching.algorithms import psthash
from tamis.matching.algorithms.psthash import PSTHash
from tamis.matching.ranks.encoding import encode


@pytest.fixture(autouse=True)
def _both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some additions are few and some are many."""
    monkeypatch.setattr(psthash, "BULK", 4)


def engine_with(texts: list[str], engine: PSTHash | None = None) -> PSTHash:
    engine = engine or PSTHash()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    return engine


@pytest.mark.parametrize("most_pairs", [6, 100_000])
def test_histories(most_pairs: int) -> None:
    check_histories(lambda: PSTHash(most_pairs=most_pairs, slots=2, m=8, k=1))


def test_histories_with_exact_signatures() -> None:
    check_histories(lambda: PSTHash(most_pairs=10, slots=2, signature="exact"))


@given(st.lists(crowded_conjunctions(), max_size=12), crowded_events(), st.sampled_from((6, 1_000)))
def test_candidates_meet_their_access_predicates(
    expressions: list[Expression], event: dict[str, Any], most_pairs: int
) -> None:
    engine = PSTHash(most_pairs=most_pairs)
    engine.add_many(range(len(expressions)), expressions)
    leaves = set(encode(engine.space, (event,)).leaves.tolist())
    expected = 0
    for position in range(len(expressions)):
        predicates = engine.held[position].tolist()
        access = predicates[: 2 if engine.is_paired(position) else 1]
        if predicates and engine.space.takes_null[access[0]]:
            expected += 1
        elif predicates:
            expected += all(leaves & set(engine.space.leaves_of(each).tolist()) for each in access)
    engine.match(event)
    assert engine.stats()["candidates"] == expected


def test_who_is_stored_under_pairs() -> None:
    texts = {
        "a = 1 and b = 2": True,
        "a = 1 and b in (1, 2, 3) and c <> 1": True,
        "a = 1": False,
        "a = 1 and b is null": False,
        "a <> 1 and b <> 1": False,
    }
    engine = engine_with(list(texts), PSTHash(most_pairs=8))
    assert [engine.is_paired(position) for position in range(len(texts))] == list(texts.values())
    engine.check_invariants()


def test_a_subscription_that_splits_put_under_too_many_pairs_moves_to_the_lists() -> None:
    engine = PSTHash(most_pairs=16, slots=2)
    engine.add(0, tamis.parse("a between 0 and 9 and b between 0 and 9"))
    assert engine.is_paired(0)
    for number in range(1, 10):
        engine.add(number, tamis.parse(f"a = {number} and b = {number}"))
        engine.check_invariants()
    assert not engine.is_paired(0)
    assert all(engine.is_paired(position) for position in range(1, 10))
    assert sorted(engine.match({"a": 4, "b": 4})) == [0, 4]
    assert engine.match({"a": 4.5, "b": 0}) == [0]
    engine.remove(0)
    engine.check_invariants()


@given(st.lists(crowded_conjunctions(), min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_no_key_survives_its_subscriptions(expressions: list[Expression], random: Any) -> None:
    engine = PSTHash(slots=2)
    engine.add_many(range(len(expressions)), expressions)
    order = list(range(len(expressions)))
    random.shuffle(order)
    for position in order:
        engine.remove(position)
        engine.check_invariants()
    assert engine.stats()["predicates"] == 0


def test_an_event_with_one_attribute_finds_what_needs_one() -> None:
    engine = engine_with(["a = 1", "a = 1 and b = 1"])
    assert engine.match({"a": 1}) == [0]
    assert sorted(engine.match({"a": 1, "b": 1})) == [0, 1]
