import datetime as dt
from typing import Any

import pytest

from tamis.server.web.cloudevents import from_headers, from_object
from tamis.wire import MAX_NAME, ProtocolError

GOOD = {"specversion": "1.0", "id": "1", "source": "/shop", "type": "order"}


def test_a_cloudevent_is_the_event_that_its_json_format_shows() -> None:
    id, content = from_object({**GOOD, "data": {"price": 12}, "time": "2026-01-31T12:00:00+01:00", "subject": None})
    assert id == "/shop#1"
    assert content == {**GOOD, "data": {"price": 12}, "time": dt.datetime(2026, 1, 31, 11, tzinfo=dt.UTC)}


@pytest.mark.parametrize(
    ("media_type", "body", "data"),
    [
        ("application/json", b'{"price": 12}', {"data": {"price": 12}}),
        ("application/vnd.shop+json; charset=utf-8", b"[1]", {"data": [1]}),
        ("text/plain", "grün".encode(), {"data": "grün"}),
        ("text/plain", b"\xff", {"data_base64": "/w=="}),
        ("image/png", b"\x89P", {"data_base64": "iVA="}),
        ("", b"", {}),
    ],
)
def test_in_binary_mode_attributes_come_in_header_fields(media_type: str, body: bytes, data: dict[str, Any]) -> None:
    headers = [(f"ce-{name}", value) for name, value in GOOD.items()]
    headers += [("host", "x"), ("ce-subject", "%C3%BCber")]
    id, content = from_headers(headers, media_type, body)
    assert id == "/shop#1"
    kind = {"datacontenttype": media_type} if media_type else {}
    assert content == {**GOOD, "subject": "über", **kind, **data}


def test_two_sources_may_use_the_same_id_and_a_repeat_is_recognised() -> None:
    other = from_object({**GOOD, "source": "/mill"})
    assert other[0] != from_object(GOOD)[0]
    long = {**GOOD, "source": "s" * MAX_NAME}
    assert from_object(long)[0] == from_object(dict(long))[0] != from_object({**long, "id": "2"})[0]
    assert len(from_object(long)[0]) <= MAX_NAME


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ([], "JSON object"),
        ({**GOOD, "id": ""}, "attribute 'id'"),
        ({**GOOD, "id": 1}, "attribute 'id'"),
        ({"id": "1", "source": "x", "type": "y"}, "specversion"),
        ({**GOOD, "specversion": "0.3"}, r"version 1\.0"),
        ({**GOOD, "Upper": "x"}, "'Upper' is no name"),
        ({**GOOD, "more": {}}, "'more' is a text"),
        ({**GOOD, "more": 1 << 31}, "'more' is a text"),
        ({**GOOD, "subject": ""}, "'subject' is a text"),
        ({**GOOD, "data_base64": "?"}, "Base64"),
        ({**GOOD, "data_base64": 1}, "Base64"),
        ({**GOOD, "time": "yesterday"}, "time"),
        ({**GOOD, "time": "2026-01-31T12:00:00"}, "time"),
        ({**GOOD, "data": 1, "data_base64": "/w=="}, "one of"),
    ],
)
def test_what_is_wrong_is_named(wrong: Any, why: str) -> None:
    with pytest.raises(ProtocolError, match=why) as caught:
        from_object(wrong)
    assert caught.value.code == "bad-event"
