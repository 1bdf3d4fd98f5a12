"""Bloom filters (specs/004 §5, thesis §5.2): a set of texts as bits, with false positives and no false negatives."""

from collections.abc import Iterable
from math import log
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.sketches.hashes import Hashes

Words: TypeAlias = npt.NDArray[np.uint64]


def false_positive_rate(bits: int, items: int, hashes: int) -> float:
    """Return how likely a text that was not added seems to be there (Eq. 5.1)."""
    return float((1 - (1 - 1 / bits) ** (hashes * items)) ** hashes)


def best_hashes(bits: int, items: int) -> int:
    """Return the number of hash functions with the fewest false positives."""
    if items < 1:
        return 1
    ideal = bits / items * log(2)
    return min((max(1, int(ideal)), int(ideal) + 1), key=lambda hashes: false_positive_rate(bits, items, hashes))


def dense_bytes(bits: int) -> int:
    """Return the size of a filter written as all its bits."""
    return (bits + 7) // 8


def sparse_bytes(bits: int, places: int) -> int:
    """Return the size of a filter written as the numbers of so many bits that are set, in whole bytes each."""
    return places * max(1, ((bits - 1).bit_length() + 7) // 8)


class Bloom:
    """A set of texts, or of bits, by one family of hash functions."""

    def __init__(self, hashes: Hashes, texts: Iterable[str] = ()) -> None:
        self.hashes = hashes
        self._words: Words = np.zeros((hashes.bits + 63) >> 6, np.uint64)
        for text in texts:
            self.set(hashes.places(text))

    @classmethod
    def of_places(cls, hashes: Hashes, places: Iterable[int]) -> "Bloom":
        """Return the filter whose sparse form is given."""
        made = cls(hashes)
        made.set(places)
        return made

    @classmethod
    def of_bytes(cls, hashes: Hashes, data: bytes) -> "Bloom":
        """Return the filter whose dense form is given. Another size, or bits beyond the last, is a `ValueError`."""
        made = cls(hashes)
        if len(data) != dense_bytes(hashes.bits) or (hashes.bits % 8 and data[-1] >> hashes.bits % 8):
            raise ValueError(f"{len(data)} bytes are no filter of {hashes.bits} bits")
        made._words = np.frombuffer(data.ljust(8 * len(made._words), b"\0"), "<u8").astype(np.uint64)
        return made

    def to_bytes(self) -> bytes:
        """Return the dense form: all bits, lowest first."""
        return self._words.astype("<u8").tobytes()[: dense_bytes(self.hashes.bits)]

    def set(self, places: Iterable[int]) -> None:
        """Set bits."""
        for place in places:
            if not 0 <= place < self.hashes.bits:
                raise ValueError(f"there is no bit {place} among {self.hashes.bits}")
            self._words[place >> 6] |= np.uint64(1 << (place & 63))

    def places(self) -> tuple[int, ...]:
        """Return the sparse form: the bits that are set, in ascending order."""
        octets = self._words.astype("<u8").view(np.uint8)
        return tuple(np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist())

    def __contains__(self, text: str) -> bool:
        """Return whether a text may have been added; no is certain."""
        return all(int(self._words[place >> 6]) >> (place & 63) & 1 for place in self.hashes.places(text))

    def __or__(self, other: "Bloom") -> "Bloom":
        """Return the filter of the union of both sets."""
        self._check(other)
        made = Bloom(self.hashes)
        made._words = self._words | other._words
        return made

    def __le__(self, other: "Bloom") -> bool:
        """Return whether every bit of this filter is set in another: certain if this set is within that one."""
        self._check(other)
        return not (self._words & ~other._words).any()

    def __eq__(self, other: object) -> bool:
        """Return whether two sets may be equal; no is certain."""
        if not isinstance(other, Bloom):
            return NotImplemented
        self._check(other)
        return bool((self._words == other._words).all())

    __hash__ = None  # type: ignore[assignment] # it changes

    def _check(self, other: "Bloom") -> None:
        if self.hashes != other.hashes:
            raise ValueError(f"filters of different families say nothing of each other: {self.hashes}, {other.hashes}")
