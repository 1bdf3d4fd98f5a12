"""Every strategy of the sources, one file each. Importing this package registers them."""

from tamis.routing.strategies import (
    advertisement,
    bloom,
    covering,
    ddbr,
    flood,
    identity,
    merc,
    mics,
    prefix,
    reuse,
    simple,
)

__all__ = [
    "advertisement",
    "bloom",
    "covering",
    "ddbr",
    "flood",
    "identity",
    "merc",
    "mics",
    "prefix",
    "reuse",
    "simple",
]
