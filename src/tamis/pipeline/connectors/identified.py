"""Notifications get ids that stay the same when a batch is repeated, so that a receiver can tell what it has."""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.pipeline.schema import ID

NOTIFICATION: Final = "notification_id"


def identified(answers: DataFrame, origin: str, key: Sequence[str] = ()) -> DataFrame:
    """Return answers with a column `notification_id`, unless they have one.

    With a `key`, columns that make an event unique, an id depends on these and the subscription alone. Otherwise it is
    made of the `origin`, which is another for each batch, and of the place of the row in it: repeating a batch gives
    the same ids as long as Spark cuts it into the same partitions.
    """
    if NOTIFICATION in answers.columns:
        return answers
    missing = [name for name in key if name not in answers.columns]
    if missing:
        raise ValueError(f"the key has a column {missing[0]!r}, but the answers have: {', '.join(answers.columns)}")
    if key:
        names = [*key, *([ID] if ID in answers.columns and ID not in key else [])]
        # As JSON, null differs from an empty text, and no value runs into the next.
        fields = F.to_json(F.array(*(F.to_json(F.struct(F.col(f"`{name}`").alias("v"))) for name in names)))
        made = F.md5(fields)
    else:
        made = F.concat(F.lit(f"{origin}-"), F.lower(F.hex(F.monotonically_increasing_id())))
    return answers.withColumn(NOTIFICATION, made)
