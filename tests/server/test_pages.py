from pathlib import Path

import httpx
import pytest
import websockets
from websockets import ConnectionClosed, InvalidStatus, Origin

from support.brokers import awaited
from tamis.server import Server, ServerSettings
from tamis.server.pages import check_page
from tamis.wire import ProtocolError

HERE = ServerSettings()
ASKED = ServerSettings(tokens=Path("tokens.toml"))
OPEN = ServerSettings(insecure=True)


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        (HERE, {"host": "localhost:7480"}),
        (HERE, {"host": "127.0.0.1:7480", "origin": "http://127.0.0.1:7480"}),
        (HERE, {"host": "[::1]:7480"}),
        (ASKED, {"host": "broker.example", "origin": "https://evil.example"}),
        (OPEN, {"host": "broker.example:7480", "origin": "https://broker.example:7480"}),
    ],
)
def test_programs_and_own_pages_are_let_in(settings: ServerSettings, headers: dict[str, str]) -> None:
    check_page(settings, headers)


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        (HERE, {"host": "localhost:7480", "origin": "https://evil.example"}),
        (HERE, {"host": "localhost:7480", "origin": "http://localhost:80"}),
        (HERE, {"host": "localhost:7480", "origin": "null"}),
        (HERE, {"host": "evil.example:7480", "origin": "http://evil.example:7480"}),
        (HERE, {"host": "evil.example:7480"}),
        (HERE, {"host": "127.0.0.1.evil.example"}),
        (HERE, {"host": "[::1"}),
        (HERE, {}),
        (OPEN, {"host": "broker.example", "origin": "https://evil.example"}),
    ],
)
def test_pages_of_other_sites_are_not(settings: ServerSettings, headers: dict[str, str]) -> None:
    with pytest.raises(ProtocolError) as caught:
        check_page(settings, headers)
    assert caught.value.code == "forbidden"


@awaited
async def test_over_http_and_by_websocket() -> None:
    async with Server(ServerSettings(port=0, http_port=0)) as server:
        assert server.http is not None
        url = server.http.url
        async with httpx.AsyncClient(base_url=url) as client:
            assert (await client.get("/subscriptions", headers={"origin": url})).status_code == 200
            assert (await client.get("/subscriptions", headers={"origin": "https://evil.example"})).status_code == 403
            assert (await client.get("/subscriptions", headers={"host": "evil.example"})).status_code == 403
        address = f"{url.replace('http', 'ws', 1)}/ws"
        async with websockets.connect(address, origin=Origin(url)):
            pass
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            async with websockets.connect(address, origin=Origin("https://evil.example")) as socket:
                await socket.recv()
