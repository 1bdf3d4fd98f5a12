import io
import json
import logging
import re
import sys
from pathlib import Path

import pytest

import tamis
from support.brokers import Raw, awaited, overlay, until
from tamis.client import connect
from tamis.server import Server, ServerSettings
from tamis.server import log as log_module
from tamis.server.log import NAME, to_stderr
from tamis.wire import VERSION, ClientHello, Subscribe, frame


def test_as_json_each_line_is_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    log = to_stderr(as_json=True)
    log.info("link.up", neighbour="b")
    log.debug("nothing")
    try:
        raise ValueError("wrong")
    except ValueError:
        log.exception("http.failed", path="/x")
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first.pop("timestamp").endswith("Z")
    assert first == {"event": "link.up", "level": "info", "neighbour": "b"}
    assert (second["event"], second["level"], second["path"]) == ("http.failed", "error", "/x")
    assert "ValueError: wrong" in second["exception"]


def test_every_name_in_the_log_is_listed() -> None:
    folder = Path(tamis.__file__).parent
    names = set()
    for file in [*folder.glob("server/**/*.py"), *folder.glob("cli/*.py")]:
        names |= set(re.findall(r"\blog\.(?:info|warning|error|exception)\(\s*\"([^\"]+)\"", file.read_text()))
    assert len(names) > 8
    assert {name for name in names if f"`{name}`" not in (log_module.__doc__ or "")} == set()


def test_what_uvicorn_says_is_in_the_log_unless_strangers_caused_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    logger = logging.getLogger("uvicorn")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "propagate", True)
    level = logger.level
    try:
        to_stderr(as_json=True)
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
        logging.getLogger("uvicorn.error").error("no %s", "luck")
    finally:
        logger.setLevel(level)
    (line,) = stream.getvalue().splitlines()
    assert (json.loads(line)["event"], json.loads(line)["reason"]) == ("http.error", "no luck")


def test_for_people_a_line_has_the_name_and_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    to_stderr().warning("link.failed", address="x:1", reason="nobody there")
    (line,) = stream.getvalue().splitlines()
    assert "link.failed" in line
    assert "address=x:1" in line
    assert "'nobody there'" in line


@awaited
async def test_a_broker_within_another_program_logs_where_that_wants_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, NAME)
    async with overlay(2, [(0, 1)]):
        pass
    assert [record.levelname for record in caplog.records if "link.up" in record.message] == ["INFO", "INFO"]
    assert "neighbour='b0'" in caplog.text
    assert "link.down" in caplog.text


@awaited
async def test_neither_content_nor_conditions_are_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, NAME)
    async with Server(ServerSettings(port=0)) as server, connect(server.url) as client:
        lazy = await Raw.open(server, frame(ClientHello(VERSION, "lazy", 1)) + frame(Subscribe(1, 0, "secret = 'x'")))
        await lazy.some(2)
        lazy.writer.transport.pause_reading()  # type: ignore[attr-defined]
        while len(server.sessions) == 2:
            await client.publish({"secret": "x", "blob": "y" * 100_000})
        await until(lambda: "client.slow" in caplog.text)
        lazy.writer.transport.abort()
    assert "client='lazy'" in caplog.text
    assert "secret" not in caplog.text
    assert "yyy" not in caplog.text
