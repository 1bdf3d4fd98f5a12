"""What was here lately."""

from tamis.routing.recent import Recent


def test_the_oldest_is_forgotten_first() -> None:
    recent = Recent(limit=3)
    assert [recent.add(each) for each in (1, 2, 1, 3, 4)] == [True, True, False, True, True]
    assert [each in recent for each in (1, 2, 3, 4)] == [False, True, True, True]
    assert len(recent) == 3
