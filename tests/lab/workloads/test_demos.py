import pytest

from tamis.lab.workloads import AdTargeting, Iot, Market, Spec, Workload, generate
from tamis.language import parse


@pytest.mark.parametrize(
    ("spec", "share", "words"),
    [
        (Market(subscriptions=1_500, events=60), 0.015, ["between", "like", "in (", "timestamp", " or ", "not ("]),
        (Iot(subscriptions=1_500, events=60), 0.001, ["device.site", "array_contains", "not online", " or "]),
        (AdTargeting(subscriptions=1_500, events=60), 0.08, ["country", "interests", "age >", "is not null"]),
    ],
)
def test_conditions_mix_what_the_language_has_and_meet_a_plausible_share_of_events(
    spec: Spec[Workload], share: float, words: list[str]
) -> None:
    workload = generate(spec)
    texts = workload.conditions.texts().to_pylist()
    for word in words:
        assert any(word in text for text in texts)
    expressions = [parse(text) for text in texts]
    told = list(workload.events.rows())
    met = sum(expression.matches(event) for expression in expressions for event in told)
    assert share / 3 < met / (len(expressions) * len(told)) < share * 3
