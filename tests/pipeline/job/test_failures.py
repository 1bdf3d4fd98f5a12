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
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(ValueError(text)) == line
