"""A session that Tamis decorates runs the same Python on its workers, in UTC."""

import sys

from pyspark.sql import SparkSession

from tamis.pipeline.session import STACK, STATE_STORE


def test_the_session_of_the_tests_has_what_the_pipeline_needs(spark: SparkSession) -> None:
    def python(batches):  # type: ignore[no-untyped-def]
        import pyarrow as pa

        for _ in batches:
            yield pa.record_batch({"python": [sys.executable]})

    assert spark.range(1).mapInArrow(python, "python string").collect()[0].python == sys.executable
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.streaming.stateStore.providerClass") == STATE_STORE
    assert STACK in str(spark.conf.get("spark.driver.extraJavaOptions"))
    assert spark.conf.get("spark.ui.enabled") == "false"
