"""The K-d tree looks at few boxes, and is planted anew when it should be."""

import numpy as np

from tamis.covering.detectors.kdtree import KdTree
from tamis.covering.detectors.orthants import BUCKET, plant, search
from tamis.covering.detectors.scan import Scan


def random_boxes(count: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    ends = np.sort(np.random.default_rng(3).integers(0, 2**60, (count, dimensions, 2)), axis=2)
    return ends[..., 0].copy(), ends[..., 1].copy()


def test_it_looks_at_far_fewer_boxes_than_there_are() -> None:
    low, high = random_boxes(6_000, 6)
    tree, scan = KdTree(6), Scan(6)
    for handle in range(5_000):
        tree.add(handle, low[handle], high[handle])
        scan.add(handle, low[handle], high[handle])
    for asked in range(5_000, 6_000):
        assert len(tree.coverers(low[asked], high[asked], 1)) == len(scan.coverers(low[asked], high[asked], 1))
    assert 10 * tree.touched < scan.touched


def test_what_is_gone_is_not_kept_for_ever() -> None:
    low, high = random_boxes(2_000, 2)
    tree = KdTree(2)
    for handle in range(2_000):
        tree.add(handle, low[handle], high[handle])
    tree.coverers(low[0], high[0], 1)
    for handle in range(1_900):
        tree.remove(handle)
    before = tree.touched
    tree.coverers(np.array([2**61, 2**61]), np.array([2**61, 2**61]), 1)
    for asked in range(1_900, 2_000):
        tree.coverers(low[asked], high[asked], 1, besides=asked)
    assert tree.touched - before < 101 * 2 * 100
    assert len(tree) == 100
    tree.check_invariants()


def test_points_that_are_alike_in_most_coordinates() -> None:
    # A sample may see no difference; the tree has to be right all the same, and no bucket larger than it must be.
    points = np.zeros((500, 4), np.int64)
    points[::50, 2] = np.arange(10)
    corners, nodes, order = plant(points)
    assert sorted(order.tolist()) == list(range(500))
    leaves = [node for node in range(len(nodes)) if nodes[node, 2] == node + 1]
    alike = [points[order[nodes[leaf, 0] : nodes[leaf, 1]]] for leaf in leaves]
    assert all(len(each) <= BUCKET or (each == each[0]).all() for each in alike)
    low, high = np.array([-1, -5]), np.array([0, 0])
    out = np.empty(500, np.int64)
    found, touched = search(corners, nodes, points[order], order, 500, 500, low, high, -1, out)
    assert sorted(out[:found].tolist()) == [200, 250, 300, 350, 400, 450]
    assert touched < 200
