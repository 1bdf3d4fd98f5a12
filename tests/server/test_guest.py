"""Guests of a broker, against the reference meaning of conditions and rights."""

import asyncio
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.brokers import awaited, overlay
from support.strategies import events, expressions
from tamis.language import Expression, parse
from tamis.server import Server, ServerSettings
from tamis.server.guest import Guest
from tamis.server.rights import ALL, Rights
from tamis.wire import MAX_NAME, Code, DeliveryFrames, ProtocolError, portable


class Inbox:
    """Keeps the ids of the events that a subscription gets."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def deliver(self, event: DeliveryFrames, age: float | None) -> None:  # noqa: ARG002 - nobody measures it
        # The elements of `Delivered` behind the subscription's number, without the head of their array.
        self.ids.append(
            msgspec.msgpack.decode(b"\x93" + event.last, ext_hook=lambda code, data: (code, bytes(data)))[0]
        )


class Wanted(NamedTuple):
    """A subscription within a right."""

    right: Expression | None
    condition: Expression


class Said(NamedTuple):
    """An event within a right."""

    right: Expression | None
    content: dict[str, Any]


def can_be_sent(content: dict[str, Any]) -> bool:
    try:
        msgspec.msgpack.encode(portable(content), enc_hook=str)
    except (TypeError, OverflowError):
        return False
    return True


RIGHTS = st.none() | st.just(ALL) | expressions(4)
SUBSCRIPTIONS = st.lists(st.builds(Wanted, RIGHTS, expressions(4)), min_size=1, max_size=4)
EVENTS = st.lists(st.builds(Said, RIGHTS, events().filter(can_be_sent).map(portable)), min_size=1, max_size=5)


@settings(max_examples=60)
@given(SUBSCRIPTIONS, EVENTS)
def test_an_event_is_delivered_where_condition_and_both_rights_are_true(wanted: list[Wanted], said: list[Said]) -> None:
    async def deliver() -> list[list[str]]:
        async with Server(ServerSettings(port=0, name="b")) as server:
            inboxes = []
            for number, each in enumerate(wanted):
                rights = Rights(subject=f"s{number}", key=f"s{number}", subscribe=each.right)
                inboxes.append(Inbox())
                try:
                    Guest(server, "reader", rights).subscribe(str(each.condition), inboxes[-1])
                except ProtocolError as error:
                    assert (error.code, each.right) == ("forbidden", None)
            for number, event in enumerate(said):
                rights = Rights(subject=f"p{number}", key=f"p{number}", publish=event.right)
                allowed = event.right is not None and event.right.matches(event.content)
                try:
                    Guest(server, "writer", rights).publish("e", event.content, 100)
                except ProtocolError as error:
                    assert (error.code, allowed) == ("forbidden", False)
                else:
                    assert allowed
            server.runner.machine.check_invariants()
            return [inbox.ids for inbox in inboxes]

    found = asyncio.run(deliver())
    for each, ids in zip(wanted, found, strict=True):
        assert ids == [
            f"p{number}/e"
            for number, event in enumerate(said)
            if event.right is not None
            and event.right.matches(event.content)
            and each.right is not None
            and each.right.matches(event.content)
            and each.condition.matches(event.content)
        ]


@awaited
async def test_a_notify_clause_does_not_notice_events_outside_of_the_right() -> None:
    async with overlay(1, []) as (server,):
        inbox = Inbox()
        rights = Rights(subject="a", key="a", subscribe=parse("tenant = 'a'"))
        Guest(server, "reader", rights).subscribe("true notify x moves 10", inbox)
        writer = Guest(server, "writer")
        for id, tenant, x in (("1", "a", 0), ("2", "b", 100), ("3", "a", 5), ("4", "b", 0), ("5", "a", 11)):
            writer.publish(id, {"tenant": tenant, "x": x}, 100)
        assert inbox.ids == ["1", "5"]


@awaited
async def test_nobody_uses_up_the_id_of_another_subject() -> None:
    async with overlay(1, []) as (server,):
        inbox = Inbox()
        Guest(server, "reader").subscribe("true", inbox)
        for subject in ("mallory", "alice"):
            rights = Rights(subject=subject, key=subject, publish=parse(f"tenant = '{subject}'"))
            guest = Guest(server, "writer", rights)
            for _ in range(2):
                guest.publish("1", {"tenant": subject}, 100)
        assert inbox.ids == ["mallory/1", "alice/1"]


@awaited
async def test_an_id_is_refused_that_is_too_long_with_the_subject_before_it() -> None:
    async with overlay(1, []) as (server,):
        inbox = Inbox()
        Guest(server, "reader").subscribe("true", inbox)
        guest = Guest(server, "writer", Rights(subject="alice", key="k", publish=ALL))
        guest.publish("x" * (MAX_NAME - 6), {}, 300)
        with pytest.raises(ProtocolError) as caught:
            guest.publish("x" * (MAX_NAME - 5), {}, 300)
        assert caught.value.code == "bad-event"
        assert [len(id) for id in inbox.ids] == [MAX_NAME]


@awaited
async def test_who_was_dismissed_has_left_and_can_do_nothing_more() -> None:
    async with overlay(1, []) as (server,):
        told: list[tuple[Code, str]] = []
        rights = Rights(subject="a", key="a", subscribe=ALL, publish=ALL)
        guest = Guest(server, "a", rights, lambda code, message: told.append((code, message)))
        guest.subscribe("true", Inbox())
        assert (len(server.accounts), len(server.subscriptions)) == (1, 1)
        server.accounts.replace({})
        assert [code for code, _ in told] == ["unauthorized"]
        assert (len(server.accounts), server.subscriptions) == (0, {})
        for again in (lambda: guest.publish("1", {}, 10), lambda: guest.subscribe("true", Inbox())):
            with pytest.raises(ProtocolError) as caught:
                again()
            assert caught.value.code == "unauthorized"
        guest.leave()
