"""Bloom filters that can forget: a counter for every bit (specs/004 §5, specs/000 §8)."""

from collections.abc import Iterable

import numpy as np

from tamis.sketches.bloom import Bloom
from tamis.sketches.hashes import Hashes


class CountingBloom:
    """A multiset of texts. Whoever uses it knows what is in it: a text may be removed as often as it was added.

    Counters have 64 bits, so none is ever full. A filter may have been damaged like everything that is remembered:
    make it anew from the texts, with the next salt, before it is compared with another (specs/000 §8).
    """

    def __init__(self, hashes: Hashes, texts: Iterable[str] = ()) -> None:
        self.hashes = hashes
        self._counts = np.zeros(hashes.bits, np.int64)
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add a text once more."""
        self._counts[list(self.hashes.places(text))] += 1

    def remove(self, text: str) -> None:
        """Take back one adding of a text. If it is certain that it is not there: `ValueError`, and nothing changes."""
        places = list(self.hashes.places(text))
        if not self._counts[places].all():
            raise ValueError(f"{text!r} was not added as often as it was removed")
        self._counts[places] -= 1

    def bloom(self) -> Bloom:
        """Return the bits, which is all that is exchanged."""
        return Bloom.of_places(self.hashes, np.flatnonzero(self._counts).tolist())
