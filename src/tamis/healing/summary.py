"""What a broker holds, or should hold, in few bytes (specs/000 §8)."""

from collections.abc import Collection, Iterable
from typing import Final

from tamis.routing.packets import Sketch
from tamis.sketches import Bloom, Hashes, digest
from tamis.sketches.digest import MODULUS

#: Sketches that claim to be larger are not looked at, nor do any have fewer bits than the least number.
MOST_BITS: Final = 1 << 27
LEAST_BITS: Final = 64
MOST_HASHES: Final = 32


class Summary:
    """A Bloom filter and a digest of some items, always made anew: one that is kept may be spoilt.

    [ours] Bits alone decide wrongly too often (`tamis.sketches.false_equality`); the digest decides, and the bits tell
    most differences without sending what is alike.
    """

    def __init__(self, hashes: Hashes, items: Iterable[str]) -> None:
        self.hashes = hashes
        listed = list(items)
        self.bloom = Bloom(hashes, listed)
        self.digest = digest(listed, hashes.salt)

    @classmethod
    def of(cls, items: Collection[str], bits_per_item: int, hashes: int, salt: int) -> "Summary":
        """Summarise items in a size that suits their number."""
        return cls(Hashes(max(LEAST_BITS, hashes, bits_per_item * len(items)), hashes, salt), items)

    @classmethod
    def read(cls, sketch: Sketch) -> "Summary":
        """Return what somebody else made. A sketch that is none is a `ValueError`."""
        if sketch.size > MOST_BITS or sketch.hashes > MOST_HASHES:
            raise ValueError(f"{sketch.size} bits, {sketch.hashes} of an item, are too many")
        made = cls(Hashes(sketch.size, sketch.hashes, sketch.salt), ())
        made.bloom = Bloom.of_bytes(made.hashes, sketch.bits)
        made.digest = sketch.digest
        return made

    def sketch(self) -> Sketch:
        """Return it in the form in which it is sent."""
        hashes = self.hashes
        return Sketch(hashes.salt, hashes.hashes, hashes.bits, self.bloom.to_bytes(), self.digest)

    def says_the_same_as(self, other: "Summary") -> bool:
        """Say whether both are of equal sets; wrong once in 2**64."""
        return self.hashes == other.hashes and self.digest == other.digest and self.bloom == other.bloom

    def lacks(self, items: Iterable[str]) -> list[str]:
        """Return items that are certainly not in the set; others may not be either."""
        return [item for item in items if item not in self.bloom]

    def becomes(self, gone: Iterable[str], come: Iterable[str]) -> int:
        """Return the digest after items have gone and come."""
        salt = self.hashes.salt
        return (self.digest - digest(gone, salt) + digest(come, salt)) % MODULUS
