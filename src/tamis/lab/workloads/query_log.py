"""Query logs: keywords turned into equality predicates (specs/002 §9.4)."""

import itertools
import string

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.lab.workloads.conjunctions import Conjunctions, conjunctions, ranges
from tamis.lab.workloads.draws import Floats, Ints, distinct, pick, tilted, zipf
from tamis.lab.workloads.events import SparseEvents, sparse_events
from tamis.lab.workloads.workload import WorkloadSpec

#: A keyword longer than this is cut after its third and sixth character.
_LONG = 6
_LETTERS = np.array(list(string.ascii_lowercase))
#: Letters a keyword may have beyond the six that count.
_TAIL = 4


def predicates_of(keywords: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the attribute and the value of each keyword.

    More than six characters: the first three and the next three, so `boolean` is boo = 'lea'. Otherwise the
    two halves, so `vldb` is vl = 'db'; [ours] of an odd length the shorter half is the attribute.
    """
    lengths = pc.utf8_length(keywords)
    long = pc.greater(lengths, _LONG)
    first_three, next_three = pc.utf8_slice_codeunits(keywords, 0, 3), pc.utf8_slice_codeunits(keywords, 3, 6)
    names, values = first_three, next_three
    for length in range(2, _LONG + 1):
        half = length // 2
        short = pc.equal(lengths, length)
        names = pc.if_else(short, pc.utf8_slice_codeunits(keywords, 0, half), names)
        values = pc.if_else(short, pc.utf8_slice_codeunits(keywords, half, length), values)
    if pc.any(pc.less(lengths, 2)).as_py():
        raise ValueError("a keyword needs at least two characters")
    return pc.if_else(long, first_three, names), pc.if_else(long, next_three, values)


class QueryLog(WorkloadSpec, frozen=True, kw_only=True):
    """Queries of a few keywords against documents of many, made like the SIGMOD 2013 logs.

    [ours] The logs themselves are not used: keywords are random letters, their popularity is Zipf's, flatter
    than in running text because logs hold few stop words. The attributes are the first `dimensions` of
    a, b, ..., aa, ab, ..., aaa, ...; each has at least one keyword. A keyword whose attribute is already there is
    drawn again, so that the means hold. Queries have up to `longest_query` keywords, documents a Poisson number.
    """

    subscriptions: int = 2_100_000
    #: The thesis gives no number.
    events: int = 1_000
    dimensions: int = 17_577
    mean_predicates: float = 2.78
    mean_pairs: float = 93.07
    longest_query: int = 5
    vocabulary: int = 100_000
    exponent: float = 0.5

    def shared(self, rng: np.random.Generator) -> "_Keywords":
        """Draw the keywords, and how popular each is."""
        names, values = predicates_of(self._vocabulary(rng))
        attributes, words = names.unique(), values.unique()
        names, values = pc.index_in(names, attributes), pc.index_in(values, words)
        popularity = rng.permutation(zipf(self.vocabulary, self.exponent))
        codes, places = (each.to_numpy().astype(np.int64) for each in (names, values))
        return _Keywords(tuple(attributes.to_pylist()), words, codes, places, popularity)

    def asked(self, rng: np.random.Generator, shared: "_Keywords", count: int) -> Conjunctions:
        """Draw queries."""
        lengths = 1 + pick(rng, tilted(1, self.longest_query, self.mean_predicates), count)
        codes, asked = shared.draw(rng, lengths)
        return conjunctions(shared.attributes, lengths, codes, ranges(asked, asked), shared.words)

    def told(self, rng: np.random.Generator, shared: "_Keywords", count: int) -> SparseEvents:
        """Draw documents."""
        lengths = np.maximum(1, rng.poisson(self.mean_pairs, count))
        codes, told = shared.draw(rng, lengths)
        return sparse_events(shared.attributes, lengths, codes, told, shared.words)

    def _vocabulary(self, rng: np.random.Generator) -> pa.Array:
        known = itertools.chain.from_iterable(
            itertools.product(string.ascii_lowercase, repeat=length) for length in itertools.count(1)
        )
        names = ["".join(letters) for letters in itertools.islice(known, self.dimensions)]
        if len(names[-1]) > _LONG // 2 or self.vocabulary < self.dimensions:
            raise ValueError("there are 18,278 possible attributes, and each needs a keyword of its own")
        extra = rng.integers(self.dimensions, size=self.vocabulary - self.dimensions)
        chosen = np.array(names)[np.concatenate([np.arange(self.dimensions), extra])]
        sizes = np.char.str_len(chosen)
        full = sizes == _LONG // 2
        added = sizes + np.where(full, rng.integers(_TAIL + 1, size=len(sizes)), rng.integers(2, size=len(sizes)))
        return pa.array(np.char.add(chosen, random_texts(rng, added)))


def random_texts(rng: np.random.Generator, lengths: Ints) -> npt.NDArray[np.str_]:
    """Return texts of random small letters, of these lengths."""
    width = int(lengths.max())
    letters = _LETTERS[rng.integers(len(_LETTERS), size=(len(lengths), width))]
    letters[np.arange(width) >= lengths[:, None]] = ""
    return letters.astype("<U1").view(f"<U{width}").ravel()


class _Keywords:
    """Keywords by attribute, to be drawn by their popularity with no attribute twice in a row."""

    def __init__(
        self, names: tuple[str, ...], words: pa.Array, attributes: Ints, values: Ints, popularity: Floats
    ) -> None:
        self.attributes = names
        self.words = words
        order = np.argsort(attributes, kind="stable")
        self._values = values[order]
        self._until = np.cumsum(popularity[order])
        self._weights: Floats = np.bincount(attributes, weights=popularity).astype(np.float64)
        self._firsts = np.searchsorted(attributes[order], np.arange(len(self._weights)))
        self._from = np.concatenate([[0.0], self._until])[self._firsts]
        self._lasts = np.append(self._firsts[1:], len(order)) - 1

    def draw(self, rng: np.random.Generator, sizes: Ints) -> tuple[Ints, Ints]:
        """Return attributes and values, `sizes[i]` of each for row i."""
        codes = distinct(rng, self._weights, sizes)
        levels = self._from[codes] + rng.random(len(codes)) * self._weights[codes]
        found = np.searchsorted(self._until, levels, side="right")
        return codes, self._values[found.clip(self._firsts[codes], self._lasts[codes])]
