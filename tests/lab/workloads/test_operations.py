import numpy as np
import pytest

from tamis.lab.workloads import CoverOperations, generate, sweep
from tamis.language import parse


@pytest.mark.parametrize("spec", sweep(CoverOperations(operations=20_000), "unsubscribe_probability"))
def test_unsubscriptions_have_their_share(spec: CoverOperations) -> None:
    stream = generate(spec)
    assert len(stream) == 20_000
    assert 1 - stream.subscribes.mean() == pytest.approx(spec.unsubscribe_probability, rel=0.05)


def test_only_live_subscriptions_go_and_numbers_count_up() -> None:
    stream = generate(CoverOperations(operations=5_000, unsubscribe_probability=0.4))
    live: set[int] = set()
    for subscribes, number in zip(stream.subscribes.tolist(), stream.numbers.tolist(), strict=True):
        if subscribes:
            live.add(number)
        else:
            live.remove(number)
    assert stream.numbers[stream.subscribes].tolist() == list(range(len(stream.conditions)))


def test_every_live_subscription_is_as_likely_to_go() -> None:
    # With probability one a subscription goes as soon as it has come; near one half, old and new ones go alike.
    stream = generate(CoverOperations(operations=40_000, unsubscribe_probability=0.4))
    ranks = []
    live: list[int] = []
    for subscribes, number in zip(stream.subscribes.tolist(), stream.numbers.tolist(), strict=True):
        if subscribes:
            live.append(number)
        else:
            place = live.index(number)
            ranks.append((place + 0.5) / len(live))
            live.pop(place)
    shares = np.histogram(ranks, bins=4, range=(0, 1))[0] / len(ranks)
    np.testing.assert_allclose(shares, 0.25, rtol=0.05)


def test_with_none_alive_it_subscribes() -> None:
    stream = generate(CoverOperations(operations=10, unsubscribe_probability=1))
    assert stream.subscribes.tolist() == [True, False] * 5
    assert stream.numbers.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_sides_lie_between_two_uniform_numbers() -> None:
    stream = generate(CoverOperations(operations=20_000, unsubscribe_probability=0, attributes=4))
    low, high = stream.conditions.predicates.low, stream.conditions.predicates.high
    assert len(low) == 80_000
    assert low.mean() == pytest.approx(1 / 3, rel=0.05)
    assert high.mean() == pytest.approx(2 / 3, rel=0.05)


def test_the_table_tells_what_comes_and_goes() -> None:
    stream = generate(CoverOperations(operations=6, unsubscribe_probability=1, attributes=3))
    rows = stream.table().to_pylist()
    assert [row["operation"] for row in rows] == ["subscribe", "unsubscribe"] * 3
    assert rows[0]["condition"] == rows[1]["condition"]
    assert parse(rows[0]["condition"]).attributes == {"a0", "a1", "a2"}
