from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.covering.graphs.poset import Poset
from tamis.lab.text_poset import Texts, Walk

texts = st.lists(st.text("ab", min_size=1, max_size=4), unique=True, min_size=1, max_size=25)


@settings(max_examples=60)
@given(texts, st.text("ab", max_size=12), st.integers(1, 5))
def test_the_poset_finds_whoever_asks_for_a_part_of_the_text(asked: list[str], page: str, users: int) -> None:
    relation = Texts()
    poset = Poset(relation)
    for number, text in enumerate(asked):
        relation.texts[number] = text
        poset.add(number)
    poset.check_invariants()
    walk = Walk(poset, dict(enumerate(asked)), lambda number: number % users)
    met = [number for number, text in enumerate(asked) if text in page]
    assert walk.match(page) == {number % users for number in met}
    assert walk.tests(page) >= len(met)
    for number, text in enumerate(asked):
        assert set(relation.coverers(number, len(asked))) == {
            other for other, part in enumerate(asked) if part in text and other != number
        }
