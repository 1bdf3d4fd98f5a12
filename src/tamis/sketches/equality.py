"""How often are different sets judged equal by their Bloom filters? (specs/000 §8)

Equal sets have equal filters; different sets may, too. That judgement is made of `Bloom` by `==`. A collision stays as
long as the hash functions do, so whoever asks again and again takes another salt each time.
"""

from math import exp


def pessimistic_false_equality(bits: int, hashes: int, common: int, only_a: int, only_b: int) -> float:
    """Return the estimate of Theorem 6 for two sets with so many texts in common and so many in one alone.

    It takes the bits as independent, which makes it pessimistic: at 4 bits for each of 1000 texts, 2 hashes and
    3 texts in one set alone it says .026, and trials .0033.
    """
    one = _unshared(bits, hashes, common + only_b, only_a)
    other = _unshared(bits, hashes, common + only_a, only_b)
    return (1 - one - other) ** bits


def _unshared(bits: int, hashes: int, others: int, alone: int) -> float:
    """Return how likely a bit is set by texts of one set alone."""
    return exp(-hashes * others / bits) * (1 - exp(-hashes * alone / bits))


def false_equality(bits: int, hashes: int, common: int, only_a: int, only_b: int) -> float:
    """Return the better estimate: each bit of a text in one set alone must be set in the other by chance.

    In the case above it says .0037.
    """
    chance_a = 1 - exp(-hashes * (common + only_b) / bits)
    chance_b = 1 - exp(-hashes * (common + only_a) / bits)
    return float(chance_a ** (hashes * only_a) * chance_b ** (hashes * only_b))
