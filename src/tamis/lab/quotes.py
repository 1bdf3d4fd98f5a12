"""Brokers whose clients publish stock quotes and subscribe to them: the testbed of specs/002 §9.1."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
import numpy as np

from tamis.lab.workloads import generate
from tamis.lab.workloads.draws import Ints, pick, zipf
from tamis.lab.workloads.stocks import Stocks
from tamis.routing.packets import Name
from tamis.simulation import Overlay

#: Who subscribes to which stock: by Zipf's law with this exponent (the thesis has it for R2), or evenly.
Law: TypeAlias = Literal["zipf", "uniform"]
EXPONENT: Final = 0.5
#: [ours] Prices of a stock that are known; a subscription asks for prices above one of them.
DAYS: Final = 1_000
#: [ours] The stocks of R1 and R4 to R8: so few that about half of all brokers want a quote.
STOCKS: Final = 20
#: The subscribers of R1, and the subscriptions at each broker of R4 to R8.
SUBSCRIBERS: Final = 100
SUBSCRIPTIONS: Final = 30
#: Cents in a price.
_CENTS: Final = 100
#: Decimals by which thresholds differ, so that no two subscriptions are equal.
_DECIMALS: Final = 7

Quote: TypeAlias = dict[str, Any]


class Market:
    """Stocks with their prices, random walks as in `tamis.lab.workloads.stocks`."""

    def __init__(self, stocks: int, seed: int) -> None:
        self._prices: Ints = generate(Stocks(stocks=stocks, subscriptions=1, events=DAYS), seed).values
        self.symbols = [f"S{number:03d}" for number in range(stocks)]

    def quote(self, rng: np.random.Generator, stocks: Sequence[int]) -> Quote:
        """Return a quote of one of some stocks, all alike, on any day."""
        stock = stocks[int(rng.integers(len(stocks)))]
        price = self._prices[stock, rng.integers(self._prices.shape[1])]
        return {"symbol": self.symbols[stock], "price": float(price) / _CENTS}

    def subscriptions(self, rng: np.random.Generator, law: Law, count: int) -> list[str]:
        """Return conditions, no two of them equal: a stock, and a price that it is above on any share of its days."""
        shares = zipf(len(self.symbols), EXPONENT if law == "zipf" else 0.0)
        chosen = pick(rng, shares, count)
        days = rng.integers(self._prices.shape[1], size=count)
        found: dict[str, None] = {}
        for number, (stock, day) in enumerate(zip(chosen, days, strict=True)):
            # The fraction keeps equal thresholds apart, and is too small to let a price in or out.
            least = self._prices[stock, day] / _CENTS - (number + 1) / 10**_DECIMALS
            found[f"symbol = '{self.symbols[stock]}' and price >= {least:.{_DECIMALS}f}"] = None
        return list(found)

    def advertisement(self, stocks: Sequence[int]) -> str:
        """Return what a publisher of some stocks announces."""
        return f"symbol in ({', '.join(repr(self.symbols[stock]) for stock in stocks)}) and price >= 0"


class Offer(msgspec.Struct, frozen=True):
    """A publisher: where it is, and the stocks of which it publishes quotes."""

    broker: Name
    stocks: list[int]

    @property
    def client(self) -> Name:
        """Its name."""
        return f"publisher {self.broker}"


class Crowd(msgspec.Struct, frozen=True):
    """Who publishes and who subscribes."""

    market: Market
    offers: list[Offer]
    #: Broker, client and condition.
    wishes: list[tuple[Name, Name, str]]

    def settle(self, net: Overlay) -> None:
        """Let all subscribe, then all advertise, and wait until the overlay is quiet."""
        for wish in self.wishes:
            net.subscribe(*wish)
        net.run()
        for offer in self.offers:
            net.advertise(offer.broker, offer.client, self.market.advertisement(offer.stocks))
        net.run()

    def quotes(self, seed: int, count: int) -> Iterator[tuple[Offer, Quote]]:
        """Go through events with their publishers, all of whom publish alike."""
        rng = np.random.default_rng(seed)
        for _ in range(count):
            offer = self.offers[int(rng.integers(len(self.offers)))]
            yield offer, self.market.quote(rng, offer.stocks)


def on_line(brokers: int, subscriptions: int, seed: int) -> Crowd:
    """Return the crowd of R1: one publisher at the head, 100 subscribers at the tail. Every quote is wanted."""
    rng = np.random.default_rng(seed)
    market = Market(STOCKS, seed)
    texts = [f"symbol = '{symbol}' and price >= 0" for symbol in market.symbols]
    texts += market.subscriptions(rng, "zipf", subscriptions - len(texts))
    wishes: list[tuple[Name, Name, str]] = [
        (brokers - 1, f"subscriber {number % SUBSCRIBERS}", text) for number, text in enumerate(texts)
    ]
    return Crowd(market, [Offer(0, list(range(STOCKS)))], wishes)


def scattered(brokers: int, subscribers: int, each: int, law: Law, seed: int) -> Crowd:
    """Return the crowd of R2: a publisher of five stocks at each broker, and subscribers at brokers by chance."""
    rng = np.random.default_rng(seed)
    market = Market(5 * brokers, seed)
    homes = rng.integers(brokers, size=subscribers).tolist()
    wishes: list[tuple[Name, Name, str]] = [
        (homes[number % subscribers], f"subscriber {number % subscribers}", text)
        for number, text in enumerate(market.subscriptions(rng, law, subscribers * each))
    ]
    return Crowd(market, [Offer(broker, list(range(5 * broker, 5 * broker + 5))) for broker in range(brokers)], wishes)


def hundred(brokers: int, ratio: float, seed: int, stocks: int = STOCKS) -> Crowd:
    """Return the crowd of R4: one publisher and 30 subscriptions at each broker.

    Every subscription meets the advertisements of the same share of brokers, exactly.
    """
    rng = np.random.default_rng(seed)
    market = Market(stocks, seed)
    offered: list[list[int]] = [[] for _ in range(brokers)]
    for stock in range(stocks):
        for broker in rng.permutation(brokers)[: round(ratio * brokers)]:
            offered[broker].append(stock)
    texts = market.subscriptions(rng, "zipf", brokers * SUBSCRIPTIONS)
    wishes: list[tuple[Name, Name, str]] = [
        (number % brokers, f"subscriber {number % brokers}", text) for number, text in enumerate(texts)
    ]
    return Crowd(market, [Offer(broker, each) for broker, each in enumerate(offered) if each], wishes)
