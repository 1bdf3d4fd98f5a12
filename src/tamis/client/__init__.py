"""How do I talk to a broker? `tamis.client.connect`, and the same without asyncio in `tamis.client.blocking`."""

from tamis.client.client import Client, connect
from tamis.client.durable import DurableSubscription
from tamis.client.errors import (
    BrokerError,
    ClientError,
    ConnectionLostError,
    EventTypeError,
    SlowConsumerError,
)
from tamis.client.event import Event
from tamis.client.subscription import Subscription

__all__ = [
    "BrokerError",
    "Client",
    "ClientError",
    "ConnectionLostError",
    "DurableSubscription",
    "Event",
    "EventTypeError",
    "SlowConsumerError",
    "Subscription",
    "connect",
]
