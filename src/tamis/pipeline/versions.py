"""The versions of compiled subscriptions, for those who keep house."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tamis.pipeline.manifest import Manifest
from tamis.pipeline.store import Store

_REJECTS = "id string, condition string, position int, reason string, row_version long"


def manifest(path: str | Path, version: int | None = None) -> Manifest:
    """Return what a version says of itself, by default the one in use."""
    return Store(path).manifest(version)


def versions(path: str | Path) -> list[int]:
    """Return the numbers of all versions, oldest first."""
    return Store(path).versions()


def rejects(spark: SparkSession, path: str | Path, version: int | None = None) -> DataFrame:
    """Return the rows that were refused when a version was made.

    `position` is the character of the condition, from 1 on, at which it went wrong; null where another thing was wrong.
    """
    store = Store(path)
    found = store.manifest(version)
    files = [str(store.folder(found.version) / name) for name in found.rejects]
    return spark.read.schema(_REJECTS).parquet(*files) if files else spark.createDataFrame([], _REJECTS)


def use(path: str | Path, version: int) -> None:
    """Put another version in use, for example the one before."""
    store = Store(path)
    with store.writing():
        store.use(version)


def prune(path: str | Path, keep: int) -> list[str]:
    """Remove all but the newest `keep` versions and the one in use, and what dead writers left; return their names.

    A stream that must repeat a batch needs the version of that batch: keep those that may still be asked for.
    """
    return Store(path).prune(keep)
