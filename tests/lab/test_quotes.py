import numpy as np
import pytest

from tamis import intersects, parse
from tamis.lab.quotes import SUBSCRIBERS, SUBSCRIPTIONS, Law, Market, hundred, on_line, scattered


@pytest.mark.parametrize(("law", "first"), [("zipf", 5.0), ("uniform", 1.0)])
def test_subscriptions_differ_and_follow_their_law(law: Law, first: float) -> None:
    texts = Market(25, 7).subscriptions(np.random.default_rng(7), law, 5_000)
    assert len(set(texts)) == 5_000
    counts = [sum(f"'S{stock:03d}'" in text for text in texts) for stock in range(25)]
    # By Zipf's law with exponent 0.5, the first of 25 is asked for 5 times as often as the last.
    assert counts[0] / counts[24] == pytest.approx(first, rel=0.35)


def test_half_of_all_subscriptions_to_a_stock_want_its_quotes() -> None:
    market, rng = Market(1, 7), np.random.default_rng(7)
    conditions = [parse(text) for text in market.subscriptions(rng, "uniform", 200)]
    quotes = [market.quote(rng, [0]) for _ in range(200)]
    wanted = sum(condition.matches(quote) for condition in conditions for quote in quotes)
    assert wanted / 200**2 == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("ratio", [0.2, 0.6, 1.0])
def test_every_subscription_meets_the_advertisements_of_the_same_share_of_brokers(ratio: float) -> None:
    crowd = hundred(5, ratio, 7)
    adverts = [crowd.market.advertisement(offer.stocks) for offer in crowd.offers]
    assert len(crowd.wishes) == 5 * SUBSCRIPTIONS
    for broker, client, condition in crowd.wishes[::4]:
        assert client == f"subscriber {broker}"
        assert sum(intersects(advert, condition) for advert in adverts) == 5 * ratio


def test_all_events_are_advertised_and_repeat() -> None:
    crowd = hundred(10, 0.6, 7)
    quotes = list(crowd.quotes(3, 50))
    assert quotes == list(crowd.quotes(3, 50)) != list(crowd.quotes(4, 50))
    for offer, quote in quotes:
        assert parse(crowd.market.advertisement(offer.stocks)).matches(quote)


def test_every_quote_on_the_line_is_wanted_at_its_tail() -> None:
    crowd = on_line(4, 150, 7)
    assert {broker for broker, _, _ in crowd.wishes} == {3}
    assert len({client for _, client, _ in crowd.wishes}) == SUBSCRIBERS
    assert len({condition for _, _, condition in crowd.wishes}) == 150
    conditions = [parse(condition) for _, _, condition in crowd.wishes]
    for _, quote in crowd.quotes(7, 50):
        assert any(condition.matches(quote) for condition in conditions)


def test_publishers_share_the_stocks_and_subscribers_stay_where_they_are() -> None:
    crowd = scattered(4, 6, 10, "zipf", 7)
    assert sorted(stock for offer in crowd.offers for stock in offer.stocks) == list(range(20))
    assert len({client for _, client, _ in crowd.wishes}) == 6
    assert len({(broker, client) for broker, client, _ in crowd.wishes}) == 6
    assert len(crowd.wishes) == 60
