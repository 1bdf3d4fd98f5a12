"""Subscriptions as texts, for those who compare what two brokers know."""

from typing import Final

import msgspec

from tamis.routing.conditions import is_canonical
from tamis.routing.packets import Subscription
from tamis.routing.remembered import remembered

_DECODER: Final = msgspec.json.Decoder(Subscription)


@remembered
def spelt(subscription: Subscription) -> str:
    """Return a subscription as a text."""
    return msgspec.json.encode(subscription).decode()


@remembered
def read(text: str) -> Subscription:
    """Return the subscription that a text is. A text that is none is a `ValueError`."""
    try:
        return _DECODER.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"{text!r} is no subscription: {error}") from None


def is_subscription(text: str) -> bool:
    """Say whether a text is a subscription as `spelt` writes it, to a condition in canonical spelling."""
    try:
        subscription = read(text)
    except ValueError:
        return False
    return spelt(subscription) == text and is_canonical(subscription.condition)
