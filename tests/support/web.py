"""Clients of a broker over HTTP and WebSocket for tests: real ones, over real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from support.brokers import PATIENCE
from tamis.server import Server, ServerSettings


@asynccontextmanager
async def served(**settings: Any) -> AsyncIterator[tuple[Server, httpx.AsyncClient]]:
    """Run a broker with HTTP, and give a client of it."""
    async with Server(ServerSettings(port=0, http_port=0, name="b", **settings)) as server, client(server) as http:
        yield server, http


def client(server: Server, token: str | None = None) -> httpx.AsyncClient:
    """Return a client."""
    assert server.http is not None
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=server.http.url, timeout=PATIENCE, headers=headers)


class Sse:
    """Reads Server-Sent Events as (kind, id, data); comments are passed over."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines

    async def next(self) -> tuple[str, str, Any]:
        """Return the next one."""
        kind, id, data = "message", "", None
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "id":
                    id = value
                elif name == "data":
                    data = json.loads(value)
                elif not line and data is not None:
                    return kind, id, data
        raise EOFError

    async def comment(self) -> str:
        """Return the next line that is a comment."""
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                if line.startswith(":"):
                    return line
        raise EOFError


@asynccontextmanager
async def stream(http: httpx.AsyncClient, path: str = "/subscribe", **query: Any) -> AsyncIterator[Sse]:
    """Subscribe by Server-Sent Events."""
    headers = {"accept": "text/event-stream"}
    if "last" in query:
        headers["last-event-id"] = query.pop("last")
    async with http.stream("GET", path, params=query, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        reader = Sse(response.aiter_lines())
        assert await reader.comment() == ": subscribed"
        yield reader


class Socket:
    """A WebSocket that speaks JSON."""

    def __init__(self, raw: ClientConnection) -> None:
        self.raw = raw

    async def say(self, **message: Any) -> None:
        """Send a message."""
        await self.raw.send(json.dumps(message))

    async def next(self) -> Any:
        """Return the next message."""
        async with asyncio.timeout(PATIENCE):
            return json.loads(await self.raw.recv())

    async def ask(self, **message: Any) -> Any:
        """Send a request with a number, and return the answer; nothing else comes before it."""
        await self.say(number=7, **message)
        answer = await self.next()
        assert answer.pop("number") == 7
        return answer


@asynccontextmanager
async def socket(server: Server, query: str = "", **options: Any) -> AsyncIterator[Socket]:
    """Open a WebSocket and be welcomed."""
    assert server.http is not None
    async with connect(f"{server.http.url.replace('http', 'ws', 1)}/ws{query}", **options) as raw:
        made = Socket(raw)
        welcome = await made.next()
        assert (welcome["type"], welcome["broker"]) == ("welcome", server.name)
        yield made
