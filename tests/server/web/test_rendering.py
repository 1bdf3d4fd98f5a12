import datetime as dt
import json

from tamis.server.web.mailbox import Waiting
from tamis.server.web.rendering import event_json, event_sse
from tamis.wire import DeliveryFrames, portable


def shown(content: dict[str, object], id: str = "a") -> object:
    waiting = Waiting(1, "", DeliveryFrames(id, portable(content), None), None, 0.0)
    assert event_json(waiting) is not None
    return json.loads(event_json(waiting))["event"]


def test_values_that_json_does_not_have_are_spelled() -> None:
    day, time = dt.date(2026, 1, 31), dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
    content = {"day": day, "time": time, "raw": b"\x00\xff", "nan": float("nan"), "big": 1 << 63}
    assert shown(content) == {
        "day": "2026-01-31",
        "time": "2026-01-31T12:00:00Z",
        "raw": "AP8=",
        "nan": None,
        "big": 1 << 63,
    }


def test_keys_that_json_does_not_have_are_spelled_and_nothing_fails() -> None:
    # Another client may write what ours does not.
    frames = DeliveryFrames(
        "a", {"x": {1: 2, (1, 2): [{None: 3}], portable({"d": dt.date(2026, 1, 31)})["d"]: 4}}, None
    )
    found = json.loads(event_json(Waiting(1, "", frames, None, 0.0)))
    assert found["event"] == {"x": {"1": 2, "(1, 2)": [{"None": 3}], "2026-01-31": 4}}


def test_an_id_that_would_break_lines_is_left_to_the_data() -> None:
    for id in ("a\nb", "a\rb", "a\0b"):
        text = event_sse(Waiting(1, "", DeliveryFrames(id, {}, None), None, 0.0))
        assert text.startswith(b"data: ")
        assert text.count(b"\n") == 2
    assert event_sse(Waiting(1, "", DeliveryFrames("é", {}, None), None, 0.0)).startswith("id: é\ndata: ".encode())
