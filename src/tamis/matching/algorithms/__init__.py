"""The engines. Importing this package registers them all."""

from tamis.matching.algorithms import (
    betree,
    counting,
    kdtree,
    kindex,
    opindex,
    propagation,
    pstbloom,
    psthash,
    scan,
)

__all__ = ["betree", "counting", "kdtree", "kindex", "opindex", "propagation", "pstbloom", "psthash", "scan"]
