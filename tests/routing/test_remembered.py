"""Answers that are kept."""

import pytest

from tamis.routing import remembered as module
from tamis.routing.remembered import remember_many, remembered


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_size", 2)
    monkeypatch.setattr(module, "_resizes", [])
    monkeypatch.setattr(module, "MANY", 4)


def test_the_last_answers_are_kept_and_more_of_them_on_demand() -> None:
    asked: list[str] = []

    @remembered
    def upper(text: str) -> str:
        asked.append(text)
        return text.upper()

    def times(texts: str) -> int:
        asked.clear()
        assert [upper(text) for text in texts] == list(texts.upper())
        return len(asked)

    assert times("aab") == 2
    assert times("abc") == 1
    assert times("a") == 1
    remember_many()
    assert times("abcd") == 4
    assert times("abcd") == 0
    remember_many()  # once more changes nothing
    assert times("abcd") == 0


def test_what_is_raised_is_not_kept() -> None:
    asked: list[str] = []

    @remembered
    def number(text: str) -> int:
        asked.append(text)
        return int(text)

    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            number("x")
    assert asked == ["x", "x"]
