from pathlib import Path

import pytest

from tamis.simulation import Overlay, topology
from tamis.simulation.picture import draw


@pytest.fixture
def net() -> Overlay:
    net = Overlay(topology("heap", 7), "flood")
    net.run()
    net.publish(0, {})
    net.run()
    return net


def test_an_svg_with_the_names_of_brokers_the_same_every_time(net: Overlay, tmp_path: Path) -> None:
    draw(net, tmp_path / "a.svg")
    draw(net, tmp_path / "b.svg")
    written = (tmp_path / "a.svg").read_text()
    assert written == (tmp_path / "b.svg").read_text()
    assert "flood on 7 brokers" in written
    assert all(f">{broker}</text>" in written for broker in range(7))


def test_a_png(net: Overlay, tmp_path: Path) -> None:
    draw(net, tmp_path / "a.png", "seven brokers")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_traffic_makes_a_difference(net: Overlay, tmp_path: Path) -> None:
    draw(net, tmp_path / "a.svg")
    net.disconnect(0, 1)
    net.run()
    net.publish(0, {})
    net.run()
    draw(net, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_text() != (tmp_path / "b.svg").read_text()


def test_overlays_without_links_or_traffic(tmp_path: Path) -> None:
    draw(Overlay((1, []), "flood"), tmp_path / "one.svg")
    draw(Overlay((2, [(0, 1)]), "flood"), tmp_path / "two.svg")
    assert {path.name for path in tmp_path.iterdir()} == {"one.svg", "two.svg"}


def test_other_files_are_refused(net: Overlay, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        draw(net, tmp_path / "a.pdf")
