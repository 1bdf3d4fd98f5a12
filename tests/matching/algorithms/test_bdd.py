import tamis
from tamis.matching.algorithms.bdd import Bdd


def engine_with(*texts: str) -> Bdd:
    engine = Bdd()
    engine.add_many(range(len(texts)), [tamis.parse(text) for text in texts])
    engine.check_invariants()
    return engine


def test_equal_functions_are_one_node() -> None:
    engine = engine_with(
        "(a = 1 and b = 1) or (a = 1 and c = 1)",
        "a = 1 and (c = 1 or b = 1)",
        "(c = 1 and a = 1) or (b = 1 and a = 1 and c = 1) or (a = 1 and b = 1)",
        "a = 1 and b = 1",
    )
    first, second, third, other = engine.roots[:4].tolist()
    assert first == second == third != other
    assert engine.stats()["nodes"] == 2 + 3 + 2
    assert sorted(engine.match({"a": 1, "b": 1})) == [0, 1, 2, 3]
    assert sorted(engine.match({"a": 1, "c": 1})) == [0, 1, 2]
    assert engine.match({"b": 1, "c": 1}) == []


def test_later_expressions_share_nodes() -> None:
    engine = engine_with("(a = 1 or b = 1 or c = 1) and d = 1")
    nodes = engine.stats()["nodes"]
    engine.add(1, tamis.parse("d = 1 and (c = 1 or a = 1 or b = 1)"))
    assert engine.stats()["nodes"] == nodes
    assert engine.roots[0] == engine.roots[1]
    assert engine.match({"c": 1, "d": 1}) == [0, 1]


def test_only_expressions_with_a_met_predicate_are_walked() -> None:
    engine = engine_with("a = 1 and b = 1", "c = 1 or d = 1", "d = 1 and e = 1")
    assert engine.match({"d": 1}) == [1]
    assert engine.stats()["candidates"] == 2


def test_a_wide_connective_is_no_trouble() -> None:
    engine = engine_with(" or ".join(f"x{number} = {number}" for number in range(400)))
    assert engine.stats()["nodes"] == 2 + 400
    assert engine.stats()["too_large"] == 0
    assert engine.match({"x17": 17}) == [0]


def test_what_explodes_is_evaluated() -> None:
    pairs = " or ".join(f"(x{number} = 1 and y{number} = 1)" for number in range(14))
    order = " or ".join([f"x{number} = 1" for number in range(14)] + [f"y{number} = 1" for number in range(14)])
    engine = engine_with(order, pairs)
    assert engine.stats()["too_large"] == 1
    assert sorted(engine.match({"x3": 1, "y3": 1})) == [0, 1]
    assert engine.match({"x3": 1, "y4": 1}) == [0]


def test_the_table_grows() -> None:
    engine = engine_with("a = 1")
    room = len(engine.diagram.nodes)
    texts = [f"(a{number} = 1 or b{number} = 1) and c{number % 7} = 1" for number in range(room)]
    engine.add_many(range(1, room + 1), [tamis.parse(text) for text in texts])
    assert len(engine.diagram.nodes) > room
    engine.check_invariants()
    assert engine.match({"b9": 1, "c2": 1}) == [10]
