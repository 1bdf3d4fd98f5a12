"""What may be set for Kafka, with the names that Spark's own connector has."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

SERVERS: Final = "kafka.bootstrap.servers"
SUBSCRIBE: Final = "subscribe"
TOPIC: Final = "topic"
STARTING: Final = "startingOffsets"
ENDING: Final = "endingOffsets"
MOST: Final = "maxOffsetsPerTrigger"
FAIL_ON_LOSS: Final = "failOnDataLoss"
POLL_MS: Final = "kafkaConsumer.pollTimeoutMs"
#: This alone is ours: where the subscriptions are whose version the offsets carry.
SUBSCRIPTIONS: Final = "subscriptions"

_PREFIX: Final = "kafka."
_DEFAULT_POLL_MS: Final = 120_000
#: How offsets name the ends of a partition.
LATEST: Final = -1
EARLIEST: Final = -2

#: By topic and partition, as Spark writes it in JSON.
Offsets = dict[str, dict[str, int]]


def client_options(options: Mapping[str, str]) -> dict[str, Any]:
    """Return what librdkafka is to be told: all options with the prefix `kafka.`, without it."""
    if SERVERS not in options:
        raise ValueError(f"the option {SERVERS!r} is missing: it tells where Kafka is")
    return {name[len(_PREFIX) :]: value for name, value in options.items() if name.startswith(_PREFIX)}


def topics(options: Mapping[str, str]) -> list[str]:
    """Return the topics that are to be read."""
    found = [name.strip() for name in options.get(SUBSCRIBE, "").split(",") if name.strip()]
    if not found:
        raise ValueError(f"the option {SUBSCRIBE!r} is missing: it names topics, with commas between them")
    return found


def bound(options: Mapping[str, str], name: str, default: str) -> int | Offsets:
    """Return where to begin or end: `earliest`, `latest`, or offsets in JSON such as {"orders": {"0": 23}}."""
    text = options.get(name, default)
    if text in ("earliest", "latest"):
        return EARLIEST if text == "earliest" else LATEST
    try:
        return msgspec.json.decode(text, type=Offsets)
    except msgspec.MsgspecError as error:
        raise ValueError(
            f'option {name!r} is earliest, latest, or JSON such as {{"orders": {{"0": 23}}}}: {error}'
        ) from None


def most(options: Mapping[str, str]) -> int | None:
    """Return how many records a micro-batch takes at most."""
    if MOST not in options:
        return None
    try:
        number = int(options[MOST])
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"option {MOST!r} is a number above 0, not {options[MOST]!r}")
    return number


def poll_seconds(options: Mapping[str, str]) -> float:
    """Return how long nothing may come although something is there."""
    return int(options.get(POLL_MS, _DEFAULT_POLL_MS)) / 1000


def fails_on_loss(options: Mapping[str, str]) -> bool:
    """Return whether records that Kafka has removed before they were read end the query."""
    return options.get(FAIL_ON_LOSS, "true").lower() != "false"
