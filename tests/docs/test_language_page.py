"""Every example of docs/language.md is run."""

import json
import re
from pathlib import Path

import pytest

import tamis
from tamis.language import parse_subscription
from tamis.notification import Gate

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text()
TRUTHS = {"true": True, "false": False, "unknown": None}


def examples(fence: str) -> list[list[str]]:
    blocks = re.findall(rf"```{fence}\n(.*?)```", PAGE, re.DOTALL)
    return [[cell.strip() for cell in line.split(" | ")] for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize(("condition", "event", "truth"), examples("conditions"))
def test_conditions(condition: str, event: str, truth: str) -> None:
    assert tamis.parse(condition).truth(json.loads(event)) is TRUTHS[truth]


@pytest.mark.parametrize(("condition", "normal"), examples("normal"))
def test_normal_forms(condition: str, normal: str) -> None:
    assert str(tamis.parse(condition).normalized()) == normal


@pytest.mark.parametrize(("text", "normal"), examples("subscriptions"))
def test_subscriptions(text: str, normal: str) -> None:
    assert str(parse_subscription(text).normalized()) == normal


@pytest.mark.parametrize(("text", "values", "told"), examples("notify"))
def test_clauses(text: str, values: str, told: str) -> None:
    subscription, gate = parse_subscription(text), Gate()
    assert subscription.notify is not None
    gate.add("reader", subscription.notify)
    heard = []
    for each in values.split():
        symbol, _, price = each.rpartition(":")
        event = {"symbol": symbol, "price": float(price)}
        if subscription.condition.matches(event) and gate.passes("reader", event):
            heard.append(each)
    assert heard == told.split()


def test_the_error_is_drawn_as_shown() -> None:
    with pytest.raises(tamis.ExpressionError) as caught:
        tamis.parse("price >> 3")
    assert str(caught.value) in PAGE
