"""Functions that are called with events."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tamis import tracing
from tamis.client.errors import ClientError
from tamis.client.event import Event
from tamis.client.subscription import Subscription


async def handle(subscription: Subscription[Any], handler: Callable[[Any], Awaitable[Any] | Any]) -> None:
    """Call a function with each event of a subscription until that ends."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            event = await anext(subscription)
        except StopAsyncIteration:
            return
        except ClientError as error:
            loop.call_exception_handler({"message": f"{subscription.condition!r} of a handler", "exception": error})
            if subscription.is_over:
                return
            continue
        try:
            with tracing.span("receive", event.trace if isinstance(event, Event) else None):
                result = handler(event)
                if asyncio.iscoroutine(result):
                    await result
        except Exception as error:  # noqa: BLE001 - a handler may raise anything
            loop.call_exception_handler({"message": f"the handler of {subscription.condition!r}", "exception": error})
