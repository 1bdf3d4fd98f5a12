from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tamis.language import parse_subscription
from tamis.notification.gate import Gate
from tamis.server.changes import Told
from tamis.server.wishes import Wishes


def test_conditions_decide() -> None:
    wishes = Wishes()
    wishes.add(1, "x > 1")
    wishes.add(2, "x > 2 or y = 'a'")
    assert wishes.met_by({"x": 2}, 1) == ([1], [])
    assert wishes.met_by({"x": 3}, 2) == ([1, 2], [])
    wishes.discard(1)
    wishes.discard(7)
    assert wishes.met_by({"x": 3}, 3) == ([2], [])
    assert (len(wishes), 2 in wishes, 1 in wishes) == (1, True, False)


events = st.fixed_dictionaries(
    {"x": st.integers(-5, 5)}, optional={"k": st.sampled_from([1, 1.0, True, "1", None]), "deep": st.just({"k": 3})}
)


@given(st.lists(st.tuples(events, st.booleans()), max_size=30), st.sampled_from(["", " per k", " per deep.k"]))
def test_clauses_go_on_from_what_was_told_when_the_broker_has_crashed(
    history: list[tuple[dict[str, Any], bool]], per: str
) -> None:
    text = f"x > -4 notify x moves 2{per}"
    subscription = parse_subscription(text)
    assert subscription.notify is not None
    gate = Gate()
    gate.add("only", subscription.notify)
    wishes = Wishes()
    wishes.add(1, text)
    on_disk: dict[bytes, Told] = {}
    for position, (content, crashes) in enumerate(history, 1):
        wanted = subscription.condition.matches(content) and gate.passes("only", content)
        found, told = wishes.met_by(content, position)
        assert (found == [1]) == wanted
        on_disk |= {each.key: each for each in told}
        if crashes:
            wishes = Wishes()
            wishes.add(1, text, [each.content for each in sorted(on_disk.values(), key=lambda each: each.position)])
