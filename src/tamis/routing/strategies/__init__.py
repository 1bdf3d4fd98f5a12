"""Every strategy of the sources, one file each. Importing this package registers them."""

from tamis.routing.strategies import flood, simple

__all__ = ["flood", "simple"]
