"""Kafka without Kafka: the broker that librdkafka brings for tests, which other processes reach over TCP.

It drops old messages, so tests are small.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition


class MockKafka:
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
def mock_kafka() -> Iterator[MockKafka]:
    """Start a broker, and stop it at the end."""
    producer = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1, "log_level": 2})
    yield MockKafka(producer)
    producer.flush(5)
