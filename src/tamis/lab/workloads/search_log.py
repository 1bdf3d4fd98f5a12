"""Queries to a search engine as filters, and pages that hold some of them as events (specs/004 §9, E5 and E6).

The thesis took a published log of what people had searched for, and asked another engine how many pages each query
finds. That log is personal and is not used here: words, queries and hits are synthetic.
"""

from typing import Final

import numpy as np
import pyarrow as pa

from tamis.lab.workloads.draws import Floats, distinct, pick, tilted, zipf
from tamis.lab.workloads.events import TableEvents
from tamis.lab.workloads.query_log import random_texts
from tamis.lab.workloads.spec import Spec
from tamis.lab.workloads.workload import ArbitraryConditions, Workload

#: The one attribute that filters ask for.
ATTRIBUTE: Final = "query"
#: So many times as many queries are drawn as wanted; repeats are left out.
_SPARE: Final = 3


class SearchLog(Spec[Workload], frozen=True, kw_only=True):
    """Different queries of a few words, each a filter `query like '%...%'`; an event is the text of some queries.

    [ours] Words are random letters, their popularity is Zipf's. A query is put into an event with a probability of its
    own, as in the thesis: in proportion to the popularity of its rarest word, and on average `mean_share`.
    """

    subscriptions: int = 10_000
    events: int = 1_000
    vocabulary: int = 20_000
    exponent: float = 0.8
    shortest_word: int = 3
    longest_word: int = 9
    most_words: int = 5
    mean_words: float = 2.2
    mean_share: float = 0.0005

    def draw(self, rng: np.random.Generator) -> Workload:
        """Return the queries as conditions and the texts as events."""
        lengths = rng.integers(self.shortest_word, self.longest_word + 1, size=self.vocabulary)
        words = random_texts(rng, lengths)
        popularity = zipf(self.vocabulary, self.exponent)
        queries, rarest = self._queries(rng, words.tolist(), popularity)
        shares = np.minimum(rarest * (self.mean_share / rarest.mean()), 1.0)
        texts = [
            " ".join(queries[each] for each in np.flatnonzero(rng.random(len(queries)) < shares).tolist())
            for _ in range(self.events)
        ]
        conditions = ArbitraryConditions(pa.array([f"{ATTRIBUTE} like '%{query}%'" for query in queries]))
        return Workload(self, conditions, TableEvents(pa.table({ATTRIBUTE: pa.array(texts, pa.string())})))

    def _queries(self, rng: np.random.Generator, words: list[str], popularity: Floats) -> tuple[list[str], Floats]:
        """Return queries, each once and in the order in which they were first asked, with the least popularity."""
        count = _SPARE * self.subscriptions
        sizes = 1 + pick(rng, tilted(1, self.most_words, self.mean_words), count)
        codes = distinct(rng, popularity, sizes).tolist()
        found: dict[str, float] = {}
        start = 0
        for size in sizes.tolist():
            chosen = codes[start : start + size]
            start += size
            found.setdefault(" ".join(words[code] for code in chosen), min(popularity[code] for code in chosen))
        if len(found) < self.subscriptions:
            raise ValueError(f"{self.vocabulary} words make no {self.subscriptions} different queries")
        queries = list(found)[: self.subscriptions]
        return queries, np.array([found[each] for each in queries])
