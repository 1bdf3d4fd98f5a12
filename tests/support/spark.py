"""A small Spark for tests: quick to start, quiet, without a port that others can reach."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pyspark
from pyspark import SparkContext
from pyspark.sql import SparkSession

from tamis.pipeline.session import BRIEF, decorated

#: One process with two threads; a driver with two executors; or a client, without Java, of a server on `local[2]`.
Kind = Literal["local", "cluster", "connect"]

OPTIONS = {"spark.sql.shuffle.partitions": "2", "spark.python.worker.reuse": "true"}
CLUSTER = "local-cluster[2,1,512]"
EXECUTORS = {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": BRIEF}
#: Nothing takes longer, however busy the machine is.
PATIENCE = 300.0

_CONNECTED = "SPARK_CONNECT_MODE_ENABLED"


@contextmanager
def spark_session(folder: Path, kind: Kind = "local") -> Iterator[SparkSession]:
    """Start Spark with its files under a folder, and stop it and its JVM at the end.

    Where it runs already in this process, that one is given: there is one for all tests that want it.
    """
    if kind == "connect":
        with connect_server(folder) as url, connected(url) as session:
            yield session
        return
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    builder = SparkSession.builder.master("local[2]" if kind == "local" else CLUSTER).appName("tamis tests")
    options = OPTIONS if kind == "local" else OPTIONS | EXECUTORS
    home = os.environ.get("SPARK_HOME")
    if kind == "cluster":
        os.environ["SPARK_HOME"] = str(spark_home(folder))
    session = decorated(builder, folder, brief=True, options=options).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    gateway = session.sparkContext._gateway
    try:
        yield session
    finally:
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=60)
        # Otherwise a second session of this process would look for the first one's JVM.
        SparkContext._gateway = SparkContext._jvm = None
        if home is None:
            os.environ.pop("SPARK_HOME", None)


def spark_home(folder: Path) -> Path:
    """Return a home of Spark below a folder: the workers of a cluster leave their files in it."""
    home = folder / "home"
    if not home.exists():
        home.mkdir()
        for each in Path(pyspark.__file__).parent.iterdir():
            if each.name != "work":
                (home / each.name).symlink_to(each)
    return home


def apart() -> dict[str, str]:
    """Return the environment of a program that has a Spark of its own, whichever this process is connected to."""
    return {name: value for name, value in os.environ.items() if name != _CONNECTED}


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Start a server of Spark Connect in a process of its own, and stop it at the end; its address is given."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    places = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port)}
    told = decorated(SparkSession.builder, folder, brief=True, options={**OPTIONS, **places})._options
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[2]"]
    command += [word for name, value in told.items() for word in ("--conf", f"{name}={value}")]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with (folder / "server").open("wb") as said:
        # Functions that its clients send may be of this folder.
        known = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=folder, env=known)
    try:
        _await_port(server, port, folder / "server")
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=60)


def _await_port(server: "subprocess.Popen[bytes]", port: int, said: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert server.poll() is None, said.read_text()[-5_000:]
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"the server does not listen: {said.read_text()[-5_000:]}")


@contextmanager
def connected(url: str) -> Iterator[SparkSession]:
    """Be a client of a server."""
    session = SparkSession.builder.remote(url).getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        # Otherwise every later session of this process would be one of Connect.
        os.environ.pop(_CONNECTED, None)
