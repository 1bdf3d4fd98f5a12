import pytest

from tamis.routing.messages import Fired, Record
from tamis.simulation import Overlay, topology
from tamis.simulation.service import busy


def test_each_match_takes_its_time() -> None:
    seconds = busy(per_message=1.0, per_match=10.0)
    assert seconds(Fired("t"), []) == 1
    assert seconds(Fired("t"), [Record("matches"), Record("refused"), Record("matches", 2)]) == 31


def test_queues_form_before_busy_brokers() -> None:
    net = Overlay(topology("line", 2), "flood", service=busy(per_match=1.0))
    net.subscribe(1, "alice", "true")
    net.run()
    start = net.now
    for _ in range(3):
        net.publish(0, {})
    net.run()
    assert list(net.metrics.latencies) == pytest.approx([2.001, 3.001, 4.001])
    assert net.now == pytest.approx(start + 4.001)


def test_times_are_not_negative() -> None:
    with pytest.raises(ValueError, match="not negative"):
        busy(per_match=-1.0)
