from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from pyspark.sql import SparkSession

from tamis.lab import report as reports
from tamis.lab.contest import CONJUNCTIVE, contest, point
from tamis.lab.experiment import Context, Experiment, Outcome, Scale
from tamis.lab.spark.grid import PointError, SparkSpread
from tamis.lab.trial import SCAN
from tamis.lab.workloads import Ads

MASTER = "local[2]"
SMALL = Ads(subscriptions=200, dimensions=20, most_predicates=15, mean_predicates=3, event_size=10)


def squared() -> Callable[..., int]:
    """A function that travels with its code, as tests do not lie on the workers' path."""

    def work(number: int, power: int) -> int:
        if number == 3:
            raise ValueError("no threes")
        return int(number**power)

    return work


def test_points_are_tasks_and_results_keep_their_order(spark: SparkSession) -> None:
    steps: list[tuple[int, int]] = []
    points = [(number, 2) for number in range(4, 24)]
    found = SparkSpread(spark, MASTER).run(squared(), points, lambda *step: steps.append(step))
    assert found == [number * number for number in range(4, 24)]
    assert (steps[0], steps[-1]) == ((0, 20), (20, 20))
    assert steps == sorted(steps)
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None


def test_failed_points_are_named_and_the_others_not_disturbed(spark: SparkSession) -> None:
    with pytest.raises(PointError) as caught:
        SparkSpread(spark, MASTER).run(squared(), [(2, 2), (3, 2), (0, -1)], lambda *_: None)
    assert str(caught.value) == (
        "2 of 3 points failed: at the point 3, 2: ValueError: no threes; "
        "at the point 0, -1: ZeroDivisionError: 0.0 cannot be raised to a negative power"
    )
    assert "in work" in caught.value.__notes__[0]


def test_times_say_how_they_were_taken(spark: SparkSession) -> None:
    points = [point("ads", size, msgspec.structs.replace(SMALL, subscriptions=size), Scale.QUICK) for size in (50, 100)]
    league = replace(CONJUNCTIVE, engines=(SCAN, "kindex"))

    def run(context: Context) -> Outcome:
        return contest(context, points, [], "subscriptions", league=league)

    experiment = Experiment("999-ads", "Ads", "specs/999", "Ads.", run, "timed")
    alone = reports.run(experiment, Scale.QUICK, 7, lambda *_: None)
    apart = reports.run(experiment, Scale.QUICK, 7, lambda *_: None, SparkSpread(spark, MASTER))

    def work(report: reports.Report) -> list[list[Any]]:
        """Candidates and predicate tests, which take no time."""
        return [[*row[:2], *row[3:5]] for row in report.tables[0].rows]

    assert work(apart) == work(alone)
    assert apart.notes[:-1] == alone.notes
    assert apart.notes[-1].startswith(f"Times were taken in tasks of Spark ({MASTER}), several at once, on: ")
    assert str(apart.machine) in apart.notes[-1]
    assert apart.command == "tamis lab run 999-ads --scale quick --seed 7 --spark --master 'local[2]'"
