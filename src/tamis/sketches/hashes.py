"""Where a text sets bits: double hashing (specs/004 §5, thesis §5.2)."""

from typing import Final

import msgspec
from xxhash import xxh3_128_intdigest

_HALF: Final = 64
_LOW: Final = (1 << _HALF) - 1


class Hashes(msgspec.Struct, frozen=True):
    """A family of `hashes` functions from texts to the bits 0 … `bits` - 1. Equal families choose equal bits, anywhere.

    Function i chooses bit (h1 + i * h2) mod `bits`. [FIX] A hash is such a number, not a word of `bits` bits.
    [GAP] h1 and h2 are the halves of a 128-bit digest. If `bits` is a power of two, h2 is made odd: then the bits of a
    text all differ. Otherwise some may coincide. Another salt is another family: what collides in one need not in the
    next (specs/000 §8).
    """

    bits: int = 1 << 14
    hashes: int = 2
    salt: int = 0

    def __post_init__(self) -> None:
        if self.bits < 1:
            raise ValueError(f"a Bloom filter has at least one bit, not {self.bits}")
        if not 1 <= self.hashes <= self.bits:
            raise ValueError(f"there are 1 to {self.bits} hash functions for {self.bits} bits, not {self.hashes}")
        if not 0 <= self.salt <= _LOW:
            raise ValueError(f"a salt is a number of {_HALF} bits, not {self.salt}")

    def places(self, text: str) -> tuple[int, ...]:
        """Return the bits of a text in ascending order, each once."""
        digest = xxh3_128_intdigest(text.encode("utf-8", "surrogatepass"), seed=self.salt)
        first, step = digest & _LOW, digest >> _HALF
        if self.bits & (self.bits - 1) == 0:
            step |= 1
        return tuple(sorted({(first + number * step) % self.bits for number in range(self.hashes)}))

    def resalted(self, salt: int) -> "Hashes":
        """Return the family of the same size with another salt."""
        return Hashes(self.bits, self.hashes, salt)
