"""The engines. Importing this package registers them all."""

from tamis.matching.algorithms import (
    atree,
    bdd,
    betree,
    bop,
    counting,
    dewey,
    interval,
    kdtree,
    kindex,
    mics,
    opindex,
    propagation,
    pstbloom,
    psthash,
    scan,
    translation,
)

__all__ = [
    "atree",
    "bdd",
    "betree",
    "bop",
    "counting",
    "dewey",
    "interval",
    "kdtree",
    "kindex",
    "mics",
    "opindex",
    "propagation",
    "pstbloom",
    "psthash",
    "scan",
    "translation",
]
