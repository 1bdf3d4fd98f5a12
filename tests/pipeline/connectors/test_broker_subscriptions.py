"""A running broker's subscriptions as a table, with a token and over TLS, and told why not."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from support.certificates import certificates
from support.jobs import answers, ran, settled
from support.tokens import TokenFile
from tamis.pipeline import EventLog
from tamis.pipeline.connectors.broker import FORMAT, BrokerSource
from tamis.pipeline.connectors.broker_subscriptions import listed
from tamis.server import Server, ServerSettings
from tamis.server.server import serve_until
from tamis.tls import client_context


@contextmanager
def broker(**settings: Any) -> Iterator[str]:
    """Run a broker in a thread, and give the address of its HTTP."""
    listens = threading.Event()
    there: list[Any] = []

    async def serve() -> None:
        until = asyncio.Event()

        def ready(server: Server) -> None:
            assert server.http is not None
            there.extend([server.http.url, asyncio.get_running_loop(), until])
            listens.set()

        await serve_until(Server(ServerSettings(port=0, http_port=0, name="b", **settings)), ready, until)

    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    assert listens.wait(60)
    url, loop, until = there
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(until.set)
        thread.join(60)


def keep(url: str, condition: str, name: str = "", **options: Any) -> str:
    """Make a subscription and return its id."""
    made = httpx.post(f"{url}/subscriptions", json={"condition": condition, "name": name}, **options)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def test_a_job_matches_what_a_broker_keeps(spark: SparkSession, tmp_path: Path) -> None:
    with broker() as url:
        high = keep(url, "x > 10 notify x moves 2", "high")
        (tmp_path / "pipeline.toml").write_text(
            '[job]\nname = "kept"\nmode = "catch-up"\n[subscriptions]\nformat = "tamis"\n'
            f'options = {{ url = "{url}" }}\n[events]\nformat = "log"\npath = "log"\n'
            '[sink]\nformat = "json"\npath = "answers"\n'
        )
        log, settings = EventLog(tmp_path / "log"), settled(tmp_path / "pipeline.toml")
        log.append(pa.table({"n": [1, 2], "x": [11, 1]}))
        assert ran(spark, settings).subscriptions == 1
        low = keep(url, "x < 5")
        log.append(pa.table({"n": [3], "x": [3]}))
        assert (ran(spark, settings).version, ran(spark, settings).version) == (2, 2)
        assert answers(tmp_path / "answers") == [(1, high), (3, low)]
        spark.dataSource.register(BrokerSource)
        table = spark.read.format(FORMAT).option("url", url).load()
        rows = sorted((row.id, row.condition, row.name) for row in table.collect())
        assert rows == sorted([(high, "x > 10 notify x moves 2", "high"), (low, "x < 5", None)])


def test_a_token_gets_its_own_over_tls(tmp_path: Path) -> None:
    tokens, files = TokenFile(tmp_path), certificates(tmp_path)
    ann, bob = (tokens.add(name, subscribe="true") for name in ("ann", "bob"))
    with broker(tokens=tokens.path, tls_cert=files.cert, tls_key=files.key) as url:
        trusted: dict[str, Any] = {"headers": {"authorization": f"Bearer {ann}"}, "verify": client_context(files.ca)}
        keep(url, "x > 1", **trusted)
        options = {"url": url, "ca": str(files.ca)}
        assert [each.condition for each in listed(options | {"token": ann})] == ["x > 1"]
        assert listed(options | {"token": bob}) == []
        with pytest.raises(ValueError, match=r"broker at https.*\(unauthorized\)"):
            listed(options)
        with pytest.raises(ValueError, match=r"no broker at https.*: its certificate is not trusted"):
            listed({"url": url, "token": ann})


def test_what_is_wrong_is_told(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no broker at http://127\.0\.0\.1:9: .*refused"):
        listed({"url": "http://127.0.0.1:9"})
    with broker() as url, pytest.raises(ValueError, match=r"/nowhere: .*\(not-found\)"):
        listed({"url": f"{url}/nowhere"})
    spark.dataSource.register(BrokerSource)
    with pytest.raises(Exception, match="a broker has no table of events, but a stream"):
        spark.read.format(FORMAT).options(url="tamis://x", durable="d").load(str(tmp_path)).collect()
    query = spark.readStream.format(FORMAT).option("url", "http://127.0.0.1:9").load().writeStream.format("noop")
    query = query.option("checkpointLocation", str(tmp_path / "c"))
    with pytest.raises(Exception, match="the subscriptions of a broker are a table, no stream"):
        query.start().processAllAvailable()
