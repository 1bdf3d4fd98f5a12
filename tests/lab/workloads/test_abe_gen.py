import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace

from tamis.lab.workloads import AbeGen, generate
from tamis.lab.workloads.abe_gen import Logic
from tamis.language import And, Expression, Not, Or, Predicate, Xnor, Xor, parse

SMALL = AbeGen(subscriptions=300, events=5)


def depth(expression: Expression) -> int:
    return 1 + max((depth(child) for child in expression.children()), default=0)


def test_operators_have_their_shares() -> None:
    forest = AbeGen().grow(np.random.default_rng(1), 40_000)
    for logic, _ in forest.levels:
        shares = np.bincount(logic) / len(logic)
        np.testing.assert_allclose(shares, [0.4, 0.4, 0.1, 0.05, 0.05], rtol=0.05)


def test_inner_nodes_have_as_many_children_as_their_operator_takes() -> None:
    forest = AbeGen(children=6, depth=4).grow(np.random.default_rng(1), 1_000)
    assert len(forest.levels) == 3
    for logic, sizes in forest.levels:
        assert set(sizes[np.isin(logic, (Logic.AND, Logic.OR))]) == {6}
        assert set(sizes[logic == Logic.NOT]) == {1}
        assert set(sizes[np.isin(logic, (Logic.XOR, Logic.XNOR))]) == {2}
    assert forest.leaves == forest.levels[-1][1].sum()


def test_the_text_is_the_tree_that_was_drawn() -> None:
    kinds = {Logic.AND: And, Logic.OR: Or, Logic.NOT: Not, Logic.XOR: Xor, Logic.XNOR: Xnor}
    forest = AbeGen().grow(np.random.default_rng(1), 300)
    leaves = pa.array([f"a{number} = 1" for number in range(forest.leaves)])
    roots = [parse(text) for text in forest.texts(leaves).to_pylist()]
    inner = [child for root in roots for child in root.children()]
    for nodes, (logic, sizes) in zip((roots, inner), forest.levels, strict=True):
        assert [type(node) for node in nodes] == [kinds[Logic(each)] for each in logic]
        assert [len(node.children()) for node in nodes] == sizes.tolist()
    written = [predicate.attribute for root in roots for predicate in root.predicates()]
    assert written == [f"a{number}" for number in range(forest.leaves)]


@pytest.mark.parametrize("levels", [1, 2, 3, 5])
def test_every_leaf_has_the_depth_asked_for(levels: int) -> None:
    texts = generate(replace(SMALL, depth=levels)).conditions.texts().to_pylist()
    expressions = [parse(text) for text in texts]
    assert {depth(expression) for expression in expressions} == {levels}
    assert all(isinstance(each, Predicate) for each in expressions) is (levels == 1)


def test_repeats_are_copies_among_the_expressions() -> None:
    texts = generate(replace(SMALL, repeats=2)).conditions.texts()
    assert len(texts) == 300
    assert texts.value_counts().field("counts").to_pylist() == [3] * 100


def test_events_and_predicates_stay_within_the_space_asked_for() -> None:
    workload = generate(AbeGen(subscriptions=200, events=20, dimensions=30, cardinality=3, event_size=5, alpha=1))
    attributes = {f"a{number}" for number in range(30)}
    for event in workload.events.rows():
        assert len(event) == 5
        assert event.keys() <= attributes
        assert set(event.values()) <= {0, 1, 2}
    for text in workload.conditions.texts().to_pylist():
        assert parse(text).attributes <= attributes
