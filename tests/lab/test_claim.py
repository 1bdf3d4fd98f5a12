import pytest

from tamis.lab.claim import Claim, Results, compared
from tamis.lab.trial import SCAN, Trial


def trial(microseconds: float, candidates: float = 10) -> Trial:
    return Trial(
        ground_seconds=1,
        build_seconds=microseconds / 10,
        match_microseconds=microseconds,
        candidates=candidates,
        tests=2 * candidates,
        total_bytes=2_000,
        own_bytes=1_000,
        matches=[1, 2],
    )


RESULTS: Results = {
    "dense": {
        100: {SCAN: trial(100, 100), "opindex": trial(40, 50), "pstbloom": trial(10, 20), "psthash": trial(20, 5)},
        1_000: {SCAN: trial(1_000, 1_000), "pstbloom": trial(50, 200), "psthash": trial(20, 50)},
    }
}


def test_one_engine_against_another() -> None:
    row = Claim(kind="dense", at=100, engine="pstbloom", against="opindex", paper=0.16, good="smaller").row(RESULTS)
    assert row is not None
    assert (row.label, row.ours, row.paper) == ("dense, 100: PSTBloom / OpIndex, match time", 0.25, 0.16)


def test_a_point_that_was_not_run_stands_for_the_nearest() -> None:
    row = Claim(kind="dense", at=50_000, engine="pstbloom", against=SCAN, paper=0.1).row(RESULTS)
    assert row is not None
    assert (row.label, row.ours) == ("dense, 1,000 (paper: 50,000): PSTBloom / SCAN, match time", 0.05)
    row = Claim(kind="dense", at=50_000, engine="pstbloom", against="opindex", paper=0.1).row(RESULTS)
    assert row is not None
    assert row.label.startswith("dense, 100 (paper: 50,000)"), "the nearest where both were run"


def test_an_engine_against_itself_at_another_point() -> None:
    row = Claim(kind="dense", at=1_000, since=100, engine="pstbloom", paper=4.5).row(RESULTS)
    assert row is not None
    assert (row.label, row.ours) == ("dense, 1,000: PSTBloom, match time / that at 100", 5)


@pytest.mark.parametrize(("at", "engine", "place"), [(100, "pstbloom", 1), (100, SCAN, 4), (1_000, "psthash", 1)])
def test_the_place_of_an_engine(at: float, engine: str, place: int) -> None:
    row = Claim(kind="dense", at=at, engine=engine, paper=1).row(RESULTS)
    assert row is not None
    assert row.ours == place
    assert row.good == "exact"


def test_a_scan_takes_no_part_in_building() -> None:
    results: Results = {"dense": {1: {SCAN: trial(0), "pstbloom": trial(10)}}}
    row = Claim(kind="dense", at=1, engine="pstbloom", paper=1, measure="build_seconds").row(results)
    assert row is not None
    assert row.ours == 1


def test_nothing_is_said_about_what_was_not_run() -> None:
    assert Claim(kind="sparse", at=1, engine="pstbloom", paper=1).row(RESULTS) is None
    assert Claim(kind="dense", at=1, engine="betree", paper=1).row(RESULTS) is None
    assert Claim(kind="dense", at=100, engine="pstbloom", against="betree", paper=1).row(RESULTS) is None
    only: Results = {"dense": {100: RESULTS["dense"][100]}}
    assert Claim(kind="dense", at=1_000, since=100, engine="pstbloom", paper=2).row(only) is None


def test_only_another_order_is_explained() -> None:
    assert Claim(kind="dense", at=100, engine="pstbloom", paper=1).explanation(RESULTS) is None
    assert Claim(kind="dense", at=100, engine="pstbloom", against="opindex", paper=0.01).explanation(RESULTS) is None
    second = Claim(kind="dense", at=100, engine="psthash", paper=1).explanation(RESULTS)
    assert second is not None
    assert second.startswith("dense, 100: PSTBloom takes 10.0 µs for 20.0 candidates")
    assert second.endswith("4.00 times as many candidates and spends 500 ns for each, PSTHash 4,000 ns.")
    slower = Claim(kind="dense", at=100, engine="psthash", against="pstbloom", paper=0.5).explanation(RESULTS)
    assert slower == second


def test_the_faster_engine_is_named_first() -> None:
    text = compared("opindex", "pstbloom", RESULTS["dense"][100])
    assert text.startswith("PSTBloom takes 10.0 µs")
    assert text.endswith("PSTBloom looks at 0.40 times as many candidates and spends 500 ns for each, OpIndex 800 ns.")
