"""Which strategies there are, by name.

A new strategy is one file in `tamis.routing.strategies` with a class decorated with `@register(name, capabilities)`;
importing it there makes it available everywhere and puts it under the conformance suite.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from tamis.routing.broker import Broker, Capabilities, Options
from tamis.routing.packets import Name

B = TypeVar("B", bound=type[Broker])

_registry: dict[str, tuple[type[Broker], Capabilities]] = {}


class Strategy(msgspec.Struct, frozen=True):
    """A strategy with its options: makes the brokers of one overlay."""

    name: str
    options: Options
    capabilities: Capabilities
    make: type[Broker]

    def broker(self, name: Name) -> Broker:
        """Return a new broker that knows nobody."""
        return self.make.create(name, self.options)


def register(name: str, capabilities: Capabilities) -> Callable[[B], B]:
    """Register a class of brokers under a name."""

    def decorate(broker: B) -> B:
        if name in _registry:
            raise ValueError(f"there is a strategy named {name!r} already")
        _registry[name] = broker, capabilities
        return broker

    return decorate


def strategies() -> dict[str, Capabilities]:
    """Return the names of all strategies with what they promise."""
    return {name: _registry[name][1] for name in sorted(_registry)}


def leasable() -> list[str]:
    """Return the names of the strategies whose tables can be leased."""
    return [name for name in sorted(_registry) if _registry[name][0].soft]


def make_strategy(name: str, options: dict[str, Any] | None = None) -> Strategy:
    """Return a strategy. A name or an option that is none, or does not fit the others, is a `ValueError`."""
    if name not in _registry:
        raise ValueError(f"there is no strategy {name!r}; there are: {', '.join(sorted(_registry))}")
    broker, capabilities = _registry[name]
    try:
        settings = msgspec.convert(options or {}, broker.Settings)
    except msgspec.ValidationError as error:
        known = ", ".join(broker.Settings.__struct_fields__)
        raise ValueError(f"strategy {name!r}: {error}; its options are: {known}") from None
    return Strategy(name, settings, broker.capabilities(settings, capabilities), broker)
