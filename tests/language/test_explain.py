import json

import tamis
from tamis.language.explain import explain


def test_an_explanation_names_every_predicate_and_what_the_event_says() -> None:
    expression = tamis.parse("price > 10 and (symbol = 'A' or not flag)")
    explanation = explain(expression, {"price": 12, "symbol": 5})
    assert not explanation.matched
    assert str(explanation).split("\n") == [
        "? all of: unknown",
        "  ✓ price > 10   (price is 12)",
        "  ? any of: unknown",
        "    ? symbol = 'A'   (symbol is 5, which does not compare)",
        "    ? not: unknown",
        "      ? flag   (flag is missing or null)",
    ]
    plain = json.loads(json.dumps(explanation.to_dict()))
    assert plain["matched"] is False
    assert plain["parts"][0]["truth"] is True
    assert plain["parts"][1]["parts"][1]["parts"][0]["truth"] is None


def test_an_unknown_null_in_a_list_is_explained() -> None:
    assert "x is 2" in str(explain(tamis.parse("x in (1, null)"), {"x": 2}))
    assert str(explain(tamis.parse("true"), {})) == "✓ true"
