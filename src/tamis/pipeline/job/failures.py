"""What goes wrong outside of Tamis while a job runs, and how to say it in a line."""

import re
from typing import Final

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

#: What Spark, files, settings and connectors raise.
FAILURES: Final = (PySparkException, Py4JError, ValueError, OSError, ImportError)

#: How a trace in Python ends, and how one in Java tells what was behind it.
_RAISED: Final = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception): (\S.*)")
_CAUSED: Final = re.compile(r"(?:Caused by: |: )?(?:\w+\.)+\w*(?:Error|Exception): (\S.*)")


def one_line(error: BaseException) -> str:
    """Return what an error says, without the traces that Spark adds."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for pattern in (_RAISED, _CAUSED):
        found = [told[1] for line in lines if (told := pattern.match(line))]
        if found:
            # What was raised first stands last.
            return found[-1]
    return lines[0] if lines else type(error).__name__
