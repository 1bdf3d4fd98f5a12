"""Strategies by name."""

import re

import pytest

from tamis.routing import make_strategy
from tamis.routing.registry import register, strategies
from tamis.routing.strategies.flood import Flood

NAMES = {"flood", "simple", "identity", "covering", "advertisement", "reuse-never", "reuse-always", "reuse-partial"}
NAMES |= {"mics", "prefix", "bloom", "ddbr", "merc"}


def test_every_strategy_of_the_sources_is_there() -> None:
    assert strategies().keys() == NAMES
    assert all(each.summary for each in strategies().values())


def test_what_does_not_exist_is_named() -> None:
    with pytest.raises(ValueError, match=r"no strategy 'gossip'; there are: advertisement, bloom, "):
        make_strategy("gossip")
    with pytest.raises(ValueError, match=r"strategy 'simple': .*colour.*; its options are: engine"):
        make_strategy("simple", {"colour": "red"})
    with pytest.raises(ValueError, match=r"strategy 'covering': .*`int`.* its options are: engine, graph, k, detector"):
        make_strategy("covering", {"k": "two"})


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("covering", {"graph": "star"}, "star"),
        ("covering", {"graph": "forest", "k": 2}, "k is for graph='flat'"),
        ("advertisement", {"covering": True}, "covering is for trees=False"),
        ("mics", {"axes": {"x": (5, 5)}}, "axis 'x' goes from 5"),
        ("mics", {"axes": {"x": (0, 1), "y": (0, 1)}, "bits": 32}, "more than 63 bits"),
        ("mics", {"bits": 0}, "1 to 32 bits"),
        ("mics", {"max_runs": 0}, "max_runs and theta"),
        ("reuse-always", {"covering": True}, "covering"),
    ],
)
def test_options_that_do_not_fit_are_refused_with_the_reason(
    name: str, options: dict[str, object], reason: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        make_strategy(name, options)


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="named 'flood' already"):
        register("flood", strategies()["flood"])(Flood)
