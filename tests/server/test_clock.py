"""The time of a broker."""

import asyncio
from time import monotonic

from support.brokers import awaited
from tamis.server.clock import RealClock


@awaited
async def test_the_real_clock_calls_back_unless_cancelled() -> None:
    clock = RealClock()
    assert monotonic() - 60 < clock.now() <= monotonic()
    called: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    clock.later(0.0, called.set_result, "wrong").cancel()
    clock.later(0.001, called.set_result, "right")
    assert await called == "right"
