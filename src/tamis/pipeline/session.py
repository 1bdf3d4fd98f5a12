"""A Spark session for tests, the command line and the demo: whoever has a session of his own needs none of this.

Functions of this room take the caller's DataFrames and neither start, stop nor configure a session.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

#: Stopping a query in `foreachBatch` makes Spark match a long error text, which overflows a stack of the usual size.
STACK: Final = "-Xss8m"
#: The only state store that takes stateful operators in Python.
STATE_STORE: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
#: Arrow's Java asks of every single value whether it is there and within its buffer. Spark has asked before it reads:
#: to ask twice only costs time, half of what it takes to get lists of ids back from Python.
UNCHECKED: Final = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
#: Start-up matters, peak speed does not.
BRIEF: Final = "-XX:TieredStopAtLevel=1"
#: With this limit alone Spark does not weigh a batch after each row that goes to Python.
_UNWEIGHED: Final = str(2**31 - 1)

_JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"


def decorated(
    builder: SparkSession.Builder,
    folder: Path | str | None = None,
    brief: bool = False,
    options: Mapping[str, str] | None = None,
) -> SparkSession.Builder:
    """Return a builder with what Tamis needs and what a program on one machine wants; `options` win over all of it.

    Workers run the Python of this process, times are in UTC, no port is open to others and there is no web page. With
    a `folder`, everything that Spark leaves behind lies there. `brief` is for programs that are done in a minute: Java
    compiles less. To be called before the first session of the process starts.
    """
    # Workers run the first python3 on the path unless this tells otherwise; an option of the builder does not.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    java = [STACK, UNCHECKED, *([BRIEF] if brief else []), *([f"-Dderby.system.home={folder}"] if folder else [])]
    chosen = {
        _JAVA_OPTIONS: " ".join(java),
        "spark.executor.extraJavaOptions": UNCHECKED,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.stateStore.providerClass": STATE_STORE,
        "spark.sql.execution.arrow.maxBytesPerBatch": _UNWEIGHED,
    }
    if folder is not None:
        chosen |= {"spark.sql.warehouse.dir": str(Path(folder) / "warehouse"), "spark.local.dir": str(folder)}
    for name, value in (chosen | dict(options or {})).items():
        builder = builder.config(name, value)
    return builder
