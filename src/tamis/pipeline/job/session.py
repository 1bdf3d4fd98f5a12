"""The Spark of a job: local, a cluster's, a Connect server's, or the one that spark-submit has started."""

import os
import sys
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from tamis.pipeline.job.settings import Settings
from tamis.pipeline.session import BRIEF, STACK, STATE_STORE, UNCHECKED, decorated

#: What spark-submit leaves in the environment of the program that it runs.
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
#: What the functions of this room rely on, wherever they run.
_NEEDED: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": STATE_STORE,
}
_QUIET: Final = {"spark.log.level": "ERROR"}


#: What Spark says of itself goes to standard error, if something is wrong.
_LOGGING: Final = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""


def start(settings: Settings, brief: bool = False) -> SparkSession:
    """Start or join Spark. `brief` is for jobs that are done in a minute: Java compiles less."""
    given = settings.spark
    builder = SparkSession.builder.appName(f"tamis pipeline {settings.job.name}")
    submitted = _SUBMITTED in os.environ
    if given.remote is not None:
        builder = builder.remote(given.remote)
        options = _NEEDED | given.conf
    elif not submitted and (given.master is None or given.master.startswith("local")):
        # Everything that Spark leaves behind lies below the job's folder.
        folder = settings.state("spark")
        builder = builder.master(given.master or "local[*]")
        return decorated(builder, folder, brief=brief, options=hushed(folder, brief) | given.conf).getOrCreate()
    else:
        if not submitted:
            assert given.master is not None
            builder = builder.master(given.master)
        options = _NEEDED | _QUIET | given.conf
    # Workers run the first python3 on the path unless this tells otherwise.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def hushed(folder: Path, brief: bool) -> dict[str, str]:
    """Let Spark be quiet from its first line on: the level of a session counts only later."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "log4j2.properties"
    file.write_text(_LOGGING)
    java = [STACK, UNCHECKED, *([BRIEF] if brief else [])]
    java += [f"-Dderby.system.home={folder}", f"-Dlog4j2.configurationFile={file}"]
    return {"spark.driver.extraJavaOptions": " ".join(java)}
