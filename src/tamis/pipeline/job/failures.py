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
#: How Spark names the file that it could not read.
_FILE: Final = re.compile(r"error while reading file (?:file:/+)?(\S+)\.\s")


def one_line(error: BaseException) -> str:
    """Return what an error says, without the traces that Spark adds."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for pattern in (_RAISED, _CAUSED):
        found = [told[1] for line in lines if (told := pattern.match(line))]
        if found:
            file = _FILE.search(str(error))
            # What was raised first stands last.
            return found[-1] if file is None or file[1] in found[-1] else f"{_path(file)}: {found[-1]}"
    return lines[0] if lines else type(error).__name__


def _path(file: re.Match[str]) -> str:
    return f"/{file[1]}" if "://" not in file[1] else file[1]
