"""The document says what the broker does: schemathesis asks for all that it allows, and for much that it does not."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, from_schema
from schemathesis.engine import events as engine_events

from support.brokers import PATIENCE
from tamis.server import Server, ServerSettings
from tamis.server.web import resources
from tamis.server.web.openapi import CONDITION, EVENT, document

#: Which cases are tried is decided by this; a run with another number tries others.
SEED = 1
#: So many are tried for each operation, besides those that schemathesis tries in any case.
EXAMPLES = 5


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a broker in a thread of its own, which lets nobody wait for long."""
    monkeypatch.setattr(resources, "MAX_WAIT", 0.01)
    found: list[str] = []
    ready = threading.Event()
    stop = threading.Event()

    async def serve() -> None:
        async with Server(ServerSettings(port=0, http_port=0)) as server:
            assert server.http is not None
            found.append(server.http.url)
            ready.set()
            while not stop.is_set():
                await asyncio.sleep(0.01)
                for mailbox in list(server.http.web.mailboxes):
                    mailbox.end("stopping", "nobody waits for a stream to end by itself")

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield found[0]
    finally:
        stop.set()
        thread.join(PATIENCE)


def test_schemathesis_finds_nothing(base: str) -> None:
    conditions = ["true", "x > 1 and y is null", "name like 'a%'", "x > 0 notify x moves 2"]
    schemathesis.openapi.format(CONDITION, st.sampled_from(conditions))
    schemathesis.openapi.format(EVENT, st.sampled_from(["{}", '{"x": 1}', '{"name": "ab", "x": null}']))
    config = SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "base-url": base,
            "continue-on-failure": True,
            "checks": {"enabled": True},
            "generation": {"max-examples": EXAMPLES, "database": "none", "no-shrink": True},
        }
    )
    schema = schemathesis.openapi.from_dict(httpx.get(f"{base}/openapi.json").json(), config=config)
    found: list[str] = []
    cases = 0
    checked: Counter[str] = Counter()
    for event in from_schema(schema).execute():
        if isinstance(event, engine_events.ScenarioFinished):
            cases += len(event.recorder.cases)
            for id, checks in event.recorder.checks.items():
                checked.update(each.name for each in checks)
                bad = [each for each in checks if each.status == Status.FAILURE]
                if bad:
                    curl = event.recorder.cases[id].value.as_curl_command()[:1_000]
                    found += [f"{event.label}: {each.failure_info}\n{curl}" for each in bad]
        assert not isinstance(event, engine_events.FatalError), event
        if isinstance(event, engine_events.NonFatalError):
            found.append(f"{event.label}: {event.info}")
    assert not found, "\n\n".join(found)
    assert cases > 300
    assert {"positive_data_acceptance", "negative_data_rejection", "use_after_free", "unsupported_method"} <= set(
        checked
    )


def test_the_document_and_the_page_name_every_path_and_need_nothing_from_elsewhere(base: str) -> None:
    shown = httpx.get(f"{base}/openapi.json")
    assert shown.json() == json.loads(json.dumps(document()))
    page = httpx.get(f"{base}/docs").text
    for path, operations in document()["paths"].items():
        assert f"<code>{path}</code>" in page
        for method, operation in operations.items():
            if method != "parameters":
                assert operation["summary"].replace("'", "&#x27;") in page
    links: list[str | None] = []

    class Links(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag not in ("script", "link", "img", "iframe")
            links.extend(value for name, value in attrs if name in ("href", "src"))

    Links().feed(page)
    assert links == ["openapi.json"]
    assert "url(" not in page


def test_every_reference_leads_somewhere() -> None:
    schemas = document()["components"]["schemas"]
    named = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if "$ref" in value:
                named.add(value["$ref"].rpartition("/")[2])
            for each in value.values():
                look(each)
        elif isinstance(value, list):
            for each in value:
                look(each)

    look(document())
    assert named <= schemas.keys()
    assert schemas.keys() - named <= {"Problem"}
