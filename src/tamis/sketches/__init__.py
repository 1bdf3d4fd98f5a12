"""How is a set summarised? Bloom filters, filters that can forget, and when two summaries mean the same set."""

from tamis.sketches.bloom import Bloom, best_hashes, dense_bytes, false_positive_rate, sparse_bytes
from tamis.sketches.counting import CountingBloom
from tamis.sketches.digest import digest
from tamis.sketches.equality import false_equality, pessimistic_false_equality
from tamis.sketches.hashes import Hashes

__all__ = [
    "Bloom",
    "CountingBloom",
    "Hashes",
    "best_hashes",
    "dense_bytes",
    "digest",
    "false_equality",
    "false_positive_rate",
    "pessimistic_false_equality",
    "sparse_bytes",
]
