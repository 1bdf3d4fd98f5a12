import gc

import pytest

import tamis
from tamis.lab.prefix import load, no_collection
from tamis.lab.workloads import XSiena
from tamis.routing.prefix import RoutingTree, Tags, extract


def test_filters_mean_what_their_texts_mean() -> None:
    given = load(XSiena(subscriptions=60, events=60, names=12, name_law="pareto", value_law="pareto"), 7)
    assert len(given.texts) == len(given.filters) == len(given.events) == 60
    tree = RoutingTree()
    for wanted in given.filters:
        tree.insert(wanted)
    tags: Tags[int] = Tags(tree.snapshot())
    for number, wanted in enumerate(given.filters):
        tags.add(number, wanted)
    expressions = [tamis.parse(text) for text in given.texts]
    met = 0
    for event in given.events:
        right = {number for number, each in enumerate(expressions) if each.matches(event)}
        assert tags.forward(extract(tags.snapshot, event)) == right
        met += len(right)
    assert met > 0


def test_garbage_is_collected_again_even_after_an_error() -> None:
    with no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), no_collection():
        1 / 0  # noqa: B018 - only the error matters
    assert gc.isenabled()
