"""The subscriptions of a job, compiled, and compiled again when they have changed."""

import time
from pathlib import Path
from typing import Final

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.matching.segments.files import placed
from tamis.pipeline.compiling import compile as compile_
from tamis.pipeline.errors import StoreError
from tamis.pipeline.job.settings import FILES, Settings
from tamis.pipeline.job.sources import read_subscriptions
from tamis.pipeline.manifests import Manifest
from tamis.pipeline.schema import declared
from tamis.pipeline.store import Store

_NAME: Final = "compiled.json"


class _Print(msgspec.Struct, frozen=True):
    """What the subscriptions looked like when a version was made of them."""

    version: int
    look: str


class Compiled:
    """Keeps the compiled subscriptions of a job like those at their source."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        self._spark = spark
        self._settings = settings
        self._store = Store(settings.store)
        self._file = settings.state(_NAME)
        self._seen = time.monotonic()

    def refresh(self) -> Manifest | None:
        """Compile, if there is no version yet or the source has changed since; return what was made.

        Where a feed tells the changes, the source counts for the first version alone.
        """
        made = self._made()
        if made is not None and self._settings.subscriptions.changes is not None:
            return None
        table = read_subscriptions(self._spark, self._settings.subscriptions)
        look = self._look(table)
        if made is not None and made.look == look:
            return None
        manifest = compile_(table, self._settings.store)
        with placed(self._file) as file:
            file.write(msgspec.json.encode(_Print(manifest.version, look)))
        return manifest

    def is_due(self) -> bool:
        """Say whether it is time to look again, in a stream."""
        now = time.monotonic()
        if self._settings.subscriptions.changes is not None or now - self._seen < self._settings.subscriptions.refresh:
            return False
        self._seen = now
        return True

    def _made(self) -> _Print | None:
        """Return what there is. Where it is damaged it is made again, unless a feed has changed it since."""
        try:
            self._store.manifest()
            return msgspec.json.decode(self._file.read_bytes(), type=_Print)
        except FileNotFoundError:
            return None
        except (StoreError, msgspec.MsgspecError) as error:
            if self._settings.subscriptions.changes is None:
                return None
            raise StoreError(
                f"{error}; changes that have come are in it: use an earlier version (tamis.pipeline.use), or begin "
                f"anew without {self._settings.job.state}"
            ) from None

    def _look(self, table: DataFrame) -> str:
        """Return what differs as soon as the subscriptions do: of files their times, of others a sum of the rows."""
        given = self._settings.subscriptions
        if given.format in FILES and given.path is not None and "://" not in given.path:
            path = Path(given.path)
            files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
            return repr([(str(each), (stat := each.stat()).st_mtime_ns, stat.st_size) for each in files])
        rows = declared(table)
        sums = rows.select(F.count(F.lit(1)), F.bit_xor(F.xxhash64(*rows.columns)), F.sum(F.hash(*rows.columns)))
        return repr(tuple(sums.collect()[0]))
