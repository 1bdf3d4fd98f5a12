import asyncio
import socket as sockets
import ssl
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from support.brokers import PATIENCE, awaited
from support.certificates import certificates
from support.web import client, served, socket, stream
from tamis.client import connect
from tamis.server import Server, ServerSettings
from tamis.server.web import listener


@awaited
async def test_a_broker_that_stops_ends_all_streams_with_a_reason_and_waits_for_nobody() -> None:
    server = Server(ServerSettings(port=0, http_port=0, name="b"))
    await server.start()
    assert server.http is not None
    address = server.http.address
    async with client(server) as http, stream(http, condition="true") as sse, socket(server) as web:
        id = (await http.post("/subscriptions", json={"condition": "true"})).json()["id"]
        async with stream(http, f"/subscriptions/{id}/events") as kept:
            fetching = asyncio.create_task(http.get(f"/subscriptions/{id}/events"))
            _, lazy = await asyncio.open_connection(*address)
            lazy.write(b"GET /subscribe?condition=true&slow=drop-newest HTTP/1.1\r\nhost: localhost\r\n\r\n")
            _, silent = await asyncio.open_connection(*address)
            silent.write(b"POST /events HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n")
            await http.get("/health")
            async with asyncio.timeout(PATIENCE / 4):
                await server.stop()
            for reader in (sse, kept):
                kind, _, data = await reader.next()
                assert (kind, data["code"]) == ("goodbye", "stopping")
            assert (await web.next())["code"] == "stopping"
            with pytest.raises(ConnectionClosed) as closed:
                await web.next()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001
            answer = await fetching
            assert (answer.status_code, answer.json()["code"]) == (503, "stopping")
            for writer in (lazy, silent):
                writer.close()
    assert server.subscriptions == {}
    with pytest.raises(ConnectionError):
        await asyncio.open_connection(*address)


@awaited
async def test_a_reader_that_is_stalled_does_not_keep_a_broker_from_stopping() -> None:
    server = Server(ServerSettings(port=0, http_port=0, name="b"))
    await server.start()
    assert server.http is not None
    _, writer = await asyncio.open_connection(*server.http.address, limit=1)
    writer.write(b"GET /subscribe?condition=true&slow=drop-newest&queue=3 HTTP/1.1\r\nhost: localhost\r\n\r\n")
    async with connect(server.url) as tcp:
        mailbox = None
        while mailbox is None or not mailbox.dropped:
            await tcp.publish({"blob": "x" * 200_000})
            mailbox = next(iter(server.http.web.mailboxes), None)
    async with asyncio.timeout(PATIENCE / 4):
        await server.stop()
    assert server.subscriptions == {}
    writer.close()


@awaited
async def test_who_connects_and_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "TICK", 0.01)
    monkeypatch.setattr(listener, "PATIENCE", 0.05)
    async with served() as (server, http), socket(server) as web, stream(http, condition="true") as events:
        assert server.http is not None
        for begun in (b"", b"GET /health HTTP/1.1\r\nhos", b"GET /health HTTP/1.1\r\nhost: b\r\n\r\nGET /heal"):
            reader, writer = await asyncio.open_connection(*server.http.address)
            writer.write(begun)
            async with asyncio.timeout(PATIENCE):
                with suppress(ConnectionError):
                    await reader.read(-1)
            writer.close()
        # Those who have a stream are let alone.
        await web.ask(type="publish", event={"x": 1})
        assert (await events.next())[2]["event"] == {"x": 1}


@awaited
async def test_there_are_only_so_many_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.server.server.MAX_CONNECTIONS", 2)
    async with served() as (server, _), socket(server), connect(server.url):
        with pytest.raises(InvalidStatus) as refused:
            async with socket(server):
                pass
        assert refused.value.response.status_code == 429


@awaited
async def test_with_a_certificate_everything_is_over_tls(tmp_path: Path) -> None:
    files = certificates(tmp_path)
    context = ssl.create_default_context(cafile=str(files.ca))
    async with Server(ServerSettings(port=0, http_port=0, name="b", tls_cert=files.cert, tls_key=files.key)) as server:
        assert server.http is not None
        assert server.http.url.startswith("https://")
        async with (
            httpx.AsyncClient(base_url=server.http.url, verify=context) as http,
            socket(server, ssl=context) as web,
        ):
            await web.ask(type="subscribe", subscription="s", condition="true")
            assert (await http.post("/events", json={"x": 1})).status_code == 200
            assert (await web.next())["event"] == {"x": 1}
        async with httpx.AsyncClient(base_url=server.http.url) as stranger:
            with pytest.raises(httpx.ConnectError):
                await stranger.get("/health")


@awaited
async def test_a_port_that_is_taken_is_an_error_and_leaves_nothing() -> None:
    with sockets.create_server(("127.0.0.1", 0)) as taken:
        server = Server(ServerSettings(port=0, http_port=taken.getsockname()[1]))
        with pytest.raises(OSError, match="ddress already in use"):
            await server.start()
        assert server.http is None


@awaited
async def test_without_a_port_there_is_no_http_and_a_port_is_checked() -> None:
    async with Server(ServerSettings(port=0)) as server:
        assert server.http is None
    with pytest.raises(ValueError, match="65535"):
        ServerSettings(http_port=70_000)


@awaited
async def test_what_fails_is_a_problem_and_goes_to_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as (server, http):
        monkeypatch.setattr(server, "problems", lambda: 1 / 0)
        response = await http.get("/ready")
        assert (response.status_code, response.json()["code"]) == (500, "internal")
        assert "http.failed" in caplog.text
        assert "ZeroDivisionError" in caplog.text
        assert (await http.get("/health")).status_code == 200
        for path, status, code in [("/nothing", 404, "not-found"), ("/events", 405, "method")]:
            response = await http.get(path)
            assert (response.status_code, response.json()["code"]) == (status, code)
        assert response.headers["allow"] == "POST"
