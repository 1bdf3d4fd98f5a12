"""A sink of a stream that tests can look into, in whichever process it runs: with Spark Connect in another one."""

import json
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame


class Sink:
    """For `foreachBatch`: keeps some columns of all that it gets, by the number of the batch, in the order of time.

    All is on disk, so a copy of it is as good.
    """

    def __init__(self, folder: Path, *columns: str) -> None:
        self._folder = str(folder)
        self._columns = columns
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Take a batch, and fail after that if it was told to."""
        found = sorted([row[column] for column in self._columns] for row in frame.collect())
        with self._file("written").open("a") as file:
            file.write(json.dumps([batch, found]) + "\n")
        if self._file("fails").exists():
            self._file("fails").unlink()
            raise OSError("the sink is lost after its write")

    def fail(self) -> None:
        """Let it fail once."""
        self._file("fails").touch()

    @property
    def written(self) -> list[tuple[int, list[tuple[Any, ...]]]]:
        """What it got: the number of the batch, and the rows."""
        lines = self._file("written").read_text().splitlines() if self._file("written").exists() else []
        return [(batch, [tuple(row) for row in rows]) for batch, rows in map(json.loads, lines)]

    def _file(self, name: str) -> Path:
        return Path(self._folder) / name
