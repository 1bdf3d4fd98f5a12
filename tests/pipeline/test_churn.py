"""Subscriptions that change every second under a running stream: every event meets one version, and is answered once.

`bench/churn.py` is the same for three minutes, with lag and memory.
"""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from churn import Churn

SECONDS, RATE = 8, 400


@pytest.mark.slow
def test_all_answers_of_all_versions_are_those_of_an_index(spark: SparkSession, tmp_path: Path) -> None:
    ran = Churn(tmp_path, RATE, subscriptions=500, changes=50).run(spark, SECONDS)
    assert len(ran.lags) == RATE * SECONDS
    assert ran.versions == SECONDS
    # The query was not restarted, and took over newer versions all the same.
    assert ran.answering > 2
    assert ran.matches > 0
