import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.routing.packets import Name, Subscription
from tamis.routing.spelling import is_subscription, read, spelt

names = st.integers(-5, 5) | st.text('abö"', max_size=3)


@given(names, names, st.sampled_from(("x > 3", "s = 'ö'", "true")))
def test_a_subscription_is_read_as_it_was_spelt(broker: Name, client: Name, condition: str) -> None:
    subscription = Subscription(broker, client, condition)
    assert read(spelt(subscription)) == subscription
    assert is_subscription(spelt(subscription))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "x > 3",
        '{"broker":0,"client":1,"condition":"x >"}',
        '{"broker":0,"client":1,"condition":"x>3"}',
        '{"broker":0, "client":1,"condition":"x > 3"}',
        '{"broker":[],"client":1,"condition":"x > 3"}',
    ],
)
def test_other_texts_are_none(text: str) -> None:
    assert not is_subscription(text)


def test_reading_what_is_none_says_so() -> None:
    with pytest.raises(ValueError, match="'x > 3' is no subscription"):
        read("x > 3")
