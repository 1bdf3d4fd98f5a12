"""What telling costs, from counts to rows."""

import numpy as np
import pytest

from tamis.lab.experiment import Scale
from tamis.lab.telling import (
    DIFFERENT,
    Swept,
    Telling,
    figure,
    in_ticks,
    network,
    order_row,
    quotient_row,
    table,
    told,
    underlay,
)


def telling(*sizes: int) -> Telling:
    sent = np.array(sizes)
    return Telling(sent // 10, sent, sent // 5, sent // 4, 7 * len(sizes))


SWEPT: Swept = {
    100: {"a": telling(10, 30), "b": telling(200, 200)},
    200: {"a": telling(40, 60), "b": telling(30, 50)},
}


def test_rows_compare_bytes() -> None:
    row = quotient_row(100, SWEPT[100], "b", "a", 8.0)
    assert (row.label, row.ours, row.paper) == ("100 subscriptions: bytes, b / a", 10.0, 8.0)
    assert order_row(SWEPT, ["b", "a"], True).ours == 1
    assert order_row(SWEPT, ["b", "a"], True).paper == 2
    assert order_row(SWEPT, ["b", "a"], False).paper is None


def test_the_table_and_the_figure_have_everything() -> None:
    rows = table("t", SWEPT).rows
    assert [row[0] for row in rows] == ["100, a", "100, b", "200, a", "200, b"]
    assert rows[0][1:] == [2.0, 7.0, 20.0, 6, 7]
    assert [(each.name, each.x, each.y) for each in figure(SWEPT).series] == [
        ("a", [100.0, 200.0], [20.0, 50.0]),
        ("b", [100.0, 200.0], [200.0, 40.0]),
    ]


def test_every_operation_is_counted_and_laid_over_the_links() -> None:
    links = underlay(Scale.QUICK, 3)
    assert links is underlay(Scale.QUICK, 3)
    net = network(DIFFERENT, Scale.QUICK)
    radii = np.arange(1, 101)
    net.load(radii, np.zeros_like(radii), 0)
    found = told(net, [5, 5, -7], links, {1: [(100, 3), (101, 4)]})
    for each in found.values():
        assert len(each.hops) == 5
        # Nothing is nearer than a link.
        assert each.ip_hops >= each.hops.sum() > 0
    # Five are affected, two more come, nothing changes; then these seven are, and two whose radius is 6 or 7.
    assert found["unicast"].hops.tolist() == [5, 2, 2, 0, 9]
    assert found["CN(r)"].stress.tolist() == [1, 1, 1, 0, 1]
    assert found["CN(lr)"].stress.tolist() == [11, 2, 2, 0, 19]


def test_quarters_are_whole_ticks() -> None:
    assert in_ticks(np.array([0.25, -1.5, 3.0])).tolist() == [1, -6, 12]
    assert in_ticks(np.array([0.25])).dtype == np.int64
    assert telling(10, 20).mean_bytes == pytest.approx(15)
