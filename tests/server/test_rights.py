import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import events, expressions
from tamis.language import Expression, ExpressionError, Notify, Subscription, parse, parse_subscription
from tamis.server.limits import Limits
from tamis.server.rights import ALL, Rights
from tamis.wire import ProtocolError

CLAUSES = st.sampled_from(
    [None, Notify("a", radius=2.0), Notify("n.x", relative=0.05, key="b"), Notify("c", factor=2.0)]
)


def within(text: str) -> Rights:
    return Rights(subscribe=parse(text), publish=parse(text))


@given(expressions(), expressions(), CLAUSES, st.lists(events(), max_size=6))
def test_a_subscription_within_a_right_is_met_where_both_are_true(
    right: Expression, asked: Expression, clause: Notify | None, found: list[dict[str, Any]]
) -> None:
    narrowed = parse_subscription(Rights(subscribe=right).narrowed(str(Subscription(asked, clause))))
    assert narrowed.notify == clause
    assert parse_subscription(str(narrowed)) == narrowed
    for event in found:
        assert narrowed.condition.matches(event) is (asked.matches(event) and right.matches(event))
        assert narrowed.normalized().condition.matches(event) is narrowed.condition.matches(event)


@given(expressions(), events())
def test_an_event_may_be_published_where_the_right_is_true(right: Expression, event: dict[str, Any]) -> None:
    rights = Rights(publish=right, subscribe=right)
    assert rights.sees(event) is right.matches(event)
    if right.matches(event):
        rights.check_publish(event)
    else:
        with pytest.raises(ProtocolError) as caught:
            rights.check_publish(event)
        assert caught.value.code == "forbidden"


@pytest.mark.parametrize(
    ("asked", "event"),
    [
        ("true or tenant = 'b'", {"tenant": "b"}),
        ("x = 1 or x = 2", {"x": 1, "tenant": "b"}),
        ("true) or (true", {"tenant": "b"}),
        ("not tenant = 'a'", {"tenant": "b"}),
        ("(tenant = 'a') = (tenant = 'b')", {"tenant": "c"}),
        ("x = 1 -- ", {"x": 1, "tenant": "b"}),
        ("x = 'it''s' or true", {"x": "it's", "tenant": "b"}),
        ("tenant is null", {}),
        ("`tenant` <> 'a' or true notify x moves 1", {"x": 1, "tenant": "b"}),
    ],
)
def test_no_spelling_gets_around_a_right(asked: str, event: dict[str, Any]) -> None:
    rights = within("tenant = 'a' or tenant = 'a2'")
    try:
        narrowed = rights.narrowed(asked)
    except ExpressionError:
        return
    found = parse_subscription(narrowed)
    assert not found.condition.matches(event)
    assert found.condition.matches({"x": 1, "tenant": "a2"}) is parse_subscription(asked).condition.matches(
        {"x": 1, "tenant": "a2"}
    )


def test_who_has_all_rights_gets_what_it_wrote() -> None:
    rights = Rights.everything()
    assert rights.narrowed("x  >  1 NOTIFY x MOVES 2") == "x  >  1 NOTIFY x MOVES 2"
    rights.check_publish({})
    assert rights.sees({})
    assert rights.may_administer
    assert rights.may_link


def test_who_has_no_right_gets_nothing() -> None:
    rights = Rights(subject="a", key="k")
    for forbidden in (lambda: rights.narrowed("true"), lambda: rights.check_publish({})):
        with pytest.raises(ProtocolError) as caught:
            forbidden()
        assert caught.value.code == "forbidden"
    assert not rights.sees({})
    assert not rights.may_administer
    assert not rights.may_link


def test_what_is_wrong_with_a_condition_is_told_about_the_text_that_was_given() -> None:
    with pytest.raises(ExpressionError) as caught:
        within("tenant = 'secret'").narrowed("x >> 1")
    assert (caught.value.text, caught.value.position) == ("x >> 1", 3)


@pytest.mark.parametrize(
    "asked",
    [
        f"x = '{'y' * 65_600}'",
        f"x = '{'y' * 65_520}'",
        f"x = '{'é' * 32_760}'",
        f"z = 1 or {'not (x = 1 and ' * 32}y = 2{')' * 32}",
    ],
)
def test_a_condition_that_is_too_large_alone_or_with_the_right_is_refused_without_showing_the_right(asked: str) -> None:
    rights = within("tenant = 'secret'")
    with pytest.raises(ProtocolError) as caught:
        rights.narrowed(asked)
    assert caught.value.code == "condition-too-large"
    assert "secret" not in caught.value.message


def test_a_token_may_have_a_smaller_limit_for_conditions() -> None:
    rights = Rights(subscribe=ALL, limits=Limits(condition=10))
    assert rights.narrowed("x = 'abcd'") == "x = 'abcd'"
    for text in ("x = 'abcde'", "x = 'abcé'"):
        with pytest.raises(ProtocolError) as caught:
            rights.narrowed(text)
        assert caught.value.code == "condition-too-large"


def test_a_token_expires_at_its_time() -> None:
    at = dt.datetime(2027, 1, 1, tzinfo=dt.UTC)
    rights = Rights(expires=at)
    assert not rights.has_expired(at - dt.timedelta(microseconds=1))
    assert rights.has_expired(at)
    assert not Rights().has_expired(at)
