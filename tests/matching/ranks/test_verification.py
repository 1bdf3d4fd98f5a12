import tamis
from tamis.matching.algorithms.pstbloom import PSTBloom
from tamis.matching.algorithms.psthash import PSTHash


def test_an_event_that_lacks_a_needed_attribute_costs_no_test() -> None:
    engine = PSTBloom()
    engine.add_many(range(10), [tamis.parse(f"a = 1 and b > {number}") for number in range(10)])
    assert engine.match({"a": 1}) == []
    assert engine.stats()["candidates"] == 10
    assert engine.stats()["predicate_tests"] == 0


def test_more_attributes_than_a_word_has_bits() -> None:
    engine = PSTBloom()
    texts = [f"a{number} = 1 and a{number + 1} = 1" for number in range(200)]
    engine.add_many(range(200), [tamis.parse(text) for text in texts])
    for number in range(200):
        assert engine.match({f"a{number}": 1, f"a{number + 1}": 1, "a500": 1}) == [number]
        assert engine.match({f"a{number}": 1, f"a{(number + 63) % 200}": 1}) == []


def test_predicates_with_many_stretches() -> None:
    engine = PSTBloom()
    listed = ", ".join(str(number) for number in range(0, 40, 2))
    engine.add(0, tamis.parse(f"a = 1 and b in ({listed}) and c not in ({listed})"))
    engine.add(1, tamis.parse("a = 1 and b in (0, 2, 4) and c not in (0, 2)"))
    for b in range(-1, 41):
        for c in (1, 2, 38, 39):
            expected = [0] * (b in range(0, 40, 2) and c % 2) + [1] * (b in (0, 2, 4) and c != 2)
            assert sorted(engine.match({"a": 1, "b": b, "c": c})) == expected
    engine.check_invariants()


def test_the_most_selective_test_comes_first() -> None:
    engine = PSTHash()
    engine.add(0, tamis.parse("a = 1 and b = 1 and c > 0 and d in (1, 2) and e <> 1"))
    assert engine.match({"a": 1, "b": 1, "c": -1, "d": 3, "e": 1}) == []
    assert engine.stats()["predicate_tests"] == 1
    assert engine.match({"a": 1, "b": 1, "c": -1, "d": 2, "e": 1}) == []
    assert engine.stats()["predicate_tests"] == 3
