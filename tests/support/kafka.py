"""Kafka for tests: the broker that librdkafka brings, which other processes reach over TCP, and a real one.

The former drops old messages, so tests are small. The latter is a process of its own, from jars that Maven fetches.
"""

import shutil
import socket
import subprocess
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

#: Seconds that Maven may take, and that the broker may take to start.
PATIENCE = 300.0
BROKER = ("org.apache.kafka:kafka_2.13:3.9.1",)
#: Spark's own connector, newest version that Maven has; that of its part for tokens is another.
CONNECTOR = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.0",
)


class Kafka:
    """A running broker."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        brokers = producer.list_topics(timeout=30).brokers.values()
        self.servers = ",".join(f"{each.host}:{each.port}" for each in brokers)

    def put(self, topic: str, *values: bytes | None, partition: int = 0) -> None:
        """Append records."""
        for value in values:
            self._producer.produce(topic, value, partition=partition)
        assert self._producer.flush(30) == 0

    def records(self, topic: str) -> list[Any]:
        """Return all records of a topic."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "test", "enable.partition.eof": True})
        try:
            partitions = sorted(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
            consumer.assign([TopicPartition(topic, each, 0) for each in partitions])
            found, ended = [], 0
            while ended < len(partitions):
                message = consumer.poll(30)
                assert message is not None
                ended += message.error() is not None
                found += [message] if message.error() is None else []
            return found
        finally:
            consumer.close()


@contextmanager
def mock_kafka() -> Iterator[Kafka]:
    """Start a broker, and stop it at the end."""
    producer = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1, "log_level": 2})
    yield Kafka(producer)
    producer.flush(5)


@contextmanager
def real_kafka(folder: Path) -> Iterator[Kafka]:
    """Start a broker that keeps everything in a folder, and stop it at the end."""
    command = ["java", "-Xmx512m", "-cp", f"{fetched(folder, *BROKER)}/*"]
    with ExitStack() as free:
        broker, controller = (free.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2))
        ports = broker.getsockname()[1], controller.getsockname()[1]
    settings = folder / "server.properties"
    settings.write_text(_settings(folder, *ports))
    # With a first character that is no dash, which would look like an option.
    cluster = "A" + urlsafe_b64encode(uuid4().bytes).decode()[1:22]
    formatting = [*command, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(settings)]
    subprocess.run(formatting, check=True, capture_output=True)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
    try:
        producer = Producer({"bootstrap.servers": f"127.0.0.1:{ports[0]}", "log_level": 0})
        end = time.monotonic() + PATIENCE
        while not _answers(producer):
            assert process.poll() is None, (folder / "log").read_text()[-3_000:]
            assert time.monotonic() < end
        yield Kafka(producer)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def fetched(folder: Path, *artifacts: str, alone: bool = False) -> Path:
    """Let Maven fetch jars, with all that they need unless `alone`, and return the folder that they are in."""
    if shutil.which("mvn") is None:
        pytest.skip("Maven fetches this, and is not there")
    jars = folder / "jars"
    pom = folder / "pom.xml"
    pom.write_text(_project(artifacts, alone))
    copying = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
    try:
        done = subprocess.run(copying, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"Maven takes more than {PATIENCE:g} s to fetch {', '.join(artifacts)}")
    if done.returncode != 0:
        pytest.skip(f"Maven does not find {', '.join(artifacts)}: {done.stdout[:500]}")
    return jars


def _project(artifacts: tuple[str, ...], alone: bool) -> str:
    """Return a project of Maven that depends on artifacts."""
    without = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    needs = ""
    for group, name, version in (each.split(":") for each in artifacts):
        place = f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
        needs += f"    <dependency>{place}{without if alone else ''}</dependency>\n"
    return f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tamis</groupId><artifactId>fetched</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
{needs}  </dependencies>
</project>
"""


def _settings(folder: Path, broker: int, controller: int) -> str:
    return f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/data
num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def _answers(producer: Producer) -> bool:
    try:
        return bool(producer.list_topics(timeout=1).brokers)
    except KafkaException:
        return False
