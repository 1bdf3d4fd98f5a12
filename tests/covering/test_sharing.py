"""Equal subscriptions share a handle."""

from tamis.covering.sharing import Sharing


def test_the_first_speaks_until_it_leaves() -> None:
    sharing: Sharing[str] = Sharing()
    assert sharing.join("a", "key") == (0, True)
    assert sharing.join("b", "key") == (0, False)
    assert sharing.join("c", "other") == (1, True)
    assert sharing.speaker(0) == "a"
    assert sharing.leave("a") == (0, False)
    assert sharing.speaker(0) == "b"
    assert sharing.leave("b") == (0, True)
    assert list(sharing) == ["c"]
    sharing.check_invariants()


def test_handles_are_used_again() -> None:
    sharing: Sharing[int] = Sharing()
    for id in range(5):
        sharing.join(id, id)
    for id in (3, 1):
        sharing.leave(id)
    assert {sharing.join(id, id)[0] for id in (10, 11)} == {1, 3}
    assert sharing.join(12, 12)[0] == 5
    assert sharing.handles == len(sharing) == 6
    sharing.check_invariants()
