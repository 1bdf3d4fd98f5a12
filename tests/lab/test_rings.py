from tamis.lab.rings import GLOBAL, LOCAL, travelled


def test_delays_of_the_global_ring_are_ten_times_those_of_the_local_one() -> None:
    assert 8 < sum(GLOBAL.least()) / sum(LOCAL.least()) < 12


def test_both_protocols_meet_the_same_delays() -> None:
    optimised, unoptimised = (travelled(LOCAL, 40, 3, optimised=each) for each in (True, False))
    assert [each.age for each in optimised] == [each.age for each in unoptimised]
    assert min(each.age for each in optimised) > sum(LOCAL.least())
    assert all(0 < one.error <= other.error + 1e-3 for one, other in zip(optimised, unoptimised, strict=True))
    assert travelled(LOCAL, 40, 3) == optimised
