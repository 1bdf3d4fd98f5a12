"""What went wrong is told in a line, whoever wraps it in traces."""

import pytest

from tamis.pipeline.job.failures import one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain", "plain"),
        ("", "ValueError"),
        ("[CODE] first\n\nJVM stacktrace:\nat org.apache", "[CODE] first"),
        ("Traceback (most recent call last):\n  File x\npkg.OddError: the cause\n SQLSTATE: 38000", "the cause"),
        (
            "An error occurred while calling o1.collect.\n: org.apache.spark.SparkException: [A] outer\n\tat x\n"
            "Caused by: org.apache.spark.SparkIllegalArgumentException: [B] inner\n\tat y",
            "[B] inner",
        ),
        (
            "o1.save.\n: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading "
            "file file:///a/b.parquet.  SQLSTATE: KD001\n\tat x\nCaused by: java.lang.OddException: column: [x], y",
            "/a/b.parquet: column: [x], y",
        ),
        (
            "o1.save.\n: org.apache.spark.SparkException: [FAILED_READ_FILE] Encountered error while reading file "
            "s3://a/b.csv. SQLSTATE: KD001\nCaused by: java.lang.OddException: s3://a/b.csv is none",
            "s3://a/b.csv is none",
        ),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(ValueError(text)) == line
