import asyncio
from pathlib import Path

import pytest

from support.brokers import Raw, awaited, overlay, until
from support.certificates import Files, certificates
from support.tokens import TokenFile
from tamis.client import ConnectionLostError, blocking, connect
from tamis.server import Server, ServerSettings
from tamis.tls import client_context, is_tls, server_context
from tamis.wire import VERSION, ClientHello, frame


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return certificates(tmp_path_factory.mktemp("others"), "example.org")


async def handshakes_over() -> None:
    """Wait until the event loop has noticed that handshakes failed."""
    await until(lambda: len(asyncio.all_tasks()) == 1)


def test_which_addresses_are_called_over_tls() -> None:
    assert is_tls("tamis+tls://localhost")
    assert not is_tls("tamis://localhost")
    assert not is_tls("localhost:1")


def test_files_that_do_not_fit_are_named(files: Files, others: Files, tmp_path: Path) -> None:
    missing = tmp_path / "missing.pem"
    text = tmp_path / "text.pem"
    text.write_text("no certificate")
    for cert, key, why in (
        (missing, files.key, "missing.pem: No such file"),
        (files.cert, missing, "missing.pem: No such file"),
        (text, files.key, "text.pem and .*key.pem are not a certificate and its key in PEM"),
        (files.cert, others.key, "key.pem is not the key of the certificate in .*cert.pem"),
    ):
        with pytest.raises(ValueError, match=why):
            server_context(cert, key)
    with pytest.raises(ValueError, match=r"missing\.pem: No such file"):
        client_context(missing)
    with pytest.raises(ValueError, match=r"text\.pem holds no certificates"):
        client_context(text)
    with pytest.raises(ValueError, match="--tls-cert and --tls-key"):
        ServerSettings(tls_cert=files.cert)


@awaited
async def test_events_go_over_tls_both_large_and_many(files: Files) -> None:
    async with (
        overlay(1, [], tls_cert=files.cert, tls_key=files.key) as (server,),
        connect(server.url, ca=files.ca) as client,
    ):
        assert server.url.startswith("tamis+tls://127.0.0.1:")
        events = await client.subscribe("n >= 0")
        await client.publish_many({"n": n, "blob": "x" * 100_000} for n in range(100))
        await client.publish_many({"n": n} for n in range(100, 1_000))
        assert [(await anext(events))["n"] for _ in range(1_000)] == list(range(1_000))


@awaited
async def test_who_is_not_trusted_or_does_not_speak_tls_is_told_apart(files: Files, others: Files) -> None:
    async with overlay(1, [], tls_cert=files.cert, tls_key=files.key) as (server,), overlay(1, []) as (plain,):
        for url, ca, why in (
            (server.url, None, "its certificate is not trusted"),
            (server.url, others.ca, "its certificate is not trusted"),
            (server.url.replace("tamis+tls", "tamis"), None, r"begins with tamis\+tls://"),
            (plain.url.replace("tamis", "tamis+tls"), None, "does not speak TLS"),
        ):
            with pytest.raises(ConnectionLostError, match=why):
                async with connect(url, ca=ca):
                    pass
        # What never became a connection is not kept.
        await until(lambda: not server._connections and not plain._connections)
        async with connect(server.url, ca=files.ca) as client:
            await client.publish({})
        # A broker that speaks TLS closes without a word.
        assert await (await Raw.open(server, frame(ClientHello(VERSION, "raw")))).rest() == []
    await handshakes_over()


@awaited
async def test_a_certificate_of_another_host_is_refused(others: Files) -> None:
    async with overlay(1, [], tls_cert=others.cert, tls_key=others.key) as (server,):
        with pytest.raises(ConnectionLostError, match="IP address mismatch"):
            async with connect(server.url, ca=others.ca):
                pass
    await handshakes_over()


@awaited
async def test_brokers_join_over_tls_and_trust_only_whom_they_were_told_to(
    files: Files, others: Files, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = TokenFile(tmp_path)
    token = tokens.add("brokers", link=True)
    publisher = tokens.add("publisher", publish="true")
    tls = {"tls_cert": files.cert, "tls_key": files.key}
    async with overlay(1, [], tokens=tokens.path, **tls) as (one,):
        join = {"port": 0, "join": (one.url,), "token": token}
        async with Server(ServerSettings(name="b1", ca=others.ca, **join)) as other:  # type: ignore[arg-type]
            await until(lambda: "its certificate is not trusted" in caplog.text)
            assert len(other.links) == 0
        async with Server(ServerSettings(name="b1", ca=files.ca, **join)) as other:  # type: ignore[arg-type]
            await until(lambda: len(one.links) == len(other.links) == 1)
            async with connect(other.url) as reader, connect(one.url, ca=files.ca, token=publisher) as writer:
                events = await reader.subscribe("x = 1")
                await until(lambda: one.runner.machine.stored() == 1)
                await writer.publish({"x": 1})
                assert (await anext(events))["x"] == 1


@awaited
async def test_a_certificate_that_is_read_again_is_shown_from_then_on(files: Files, tmp_path: Path) -> None:
    mine = certificates(tmp_path / "mine")
    async with (
        overlay(1, [], tls_cert=mine.cert, tls_key=mine.key) as (server,),
        connect(server.url, ca=mine.ca) as old,
    ):
        for name in ("cert", "key"):
            getattr(mine, name).write_bytes(getattr(files, name).read_bytes())
        server.reload()
        async with connect(server.url, ca=files.ca) as new:
            events = await new.subscribe("x = 1")
            await old.publish({"x": 1})
            assert (await anext(events))["x"] == 1
        with pytest.raises(ConnectionLostError, match="not trusted"):
            async with connect(server.url, ca=mine.ca):
                pass


def test_a_context_or_file_that_is_wrong_is_refused_before_anything_is_called(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No such file"):
        connect("tamis+tls://localhost", ca=tmp_path / "none.pem")
    with pytest.raises(ValueError, match="No such file"):
        blocking.connect("localhost", ca=tmp_path / "none.pem")
