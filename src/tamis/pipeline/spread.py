"""Keys for shards that Spark spreads evenly over its partitions."""

from functools import lru_cache
from typing import Final

_SEED: Final = 42
_HALF: Final = (1 << 32) - 1


@lru_cache
def spread_keys(count: int) -> tuple[int, ...]:
    """Return a key for each of so many shards.

    Spark puts a key into the partition that its hash says. A few numbers in a row may all be in one; these are in
    different ones of `count` partitions, and so of any number that divides `count`.
    """
    found: dict[int, int] = {}
    key = 0
    while len(found) < count:
        found.setdefault(spark_hash(key) % count, key)
        key += 1
    return tuple(found[place] for place in range(count))


def spark_hash(number: int) -> int:
    """Return what `hash` of Spark SQL says of an int (Murmur3, 32 bits)."""
    mixed = _rotated(number & _HALF, 0xCC9E2D51, 15, 0x1B873593)
    state = _SEED ^ mixed
    state = (((state << 13) | (state >> 19)) & _HALF) * 5 + 0xE6546B64 & _HALF
    state ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = ((state ^ (state >> shift)) * factor) & _HALF
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def _rotated(number: int, first: int, bits: int, second: int) -> int:
    number = (number * first) & _HALF
    number = ((number << bits) | (number >> (32 - bits))) & _HALF
    return (number * second) & _HALF
