"""What was here lately."""

from tamis.recent import Recent


def test_the_oldest_is_forgotten_first() -> None:
    recent: Recent[int] = Recent(limit=3)
    assert [recent.add(each) for each in (1, 2, 1, 3, 4)] == [True, True, False, True, True]
    assert [each in recent for each in (1, 2, 3, 4)] == [False, True, True, True]
    assert len(recent) == 3
    recent.discard(3)
    recent.discard(9)
    assert [recent.add(each) for each in (5, 3)] == [True, True]
    assert [each in recent for each in (2, 3, 4, 5)] == [False, True, True, True]
