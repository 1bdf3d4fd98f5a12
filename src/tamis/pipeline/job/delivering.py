"""What is done with a micro-batch: match it, unless that is done, and hand the answers to the sink."""

from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.pipeline.connectors.rejects import Rejects
from tamis.pipeline.job.notes import Note, Notes
from tamis.pipeline.job.settings import Settings
from tamis.pipeline.job.sinks import write
from tamis.pipeline.job.steps import answered
from tamis.pipeline.pins import pinned
from tamis.pipeline.schema import VERSION


class StoppedError(Exception):
    """The job was asked to stop: this batch is not begun, and is the first of the next run."""


class Deliver(msgspec.Struct, frozen=True):
    """For `foreachBatch`. Everything is found again on disk, so that it may run in any process."""

    settings: Settings
    #: Whether what comes is answers already; otherwise it is events, and the version goes by the batch's number.
    answers: bool

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Do a batch, for the first time or again."""
        settings = self.settings
        notes = Notes(settings.state("batches"))
        if notes.stops():
            raise StoppedError("the job was asked to stop")
        notes.begin(batch)
        rejects = Rejects(settings.state("rejects"))
        rejects.forget(batch)
        if not self.answers:
            version = pinned(settings.store, settings.state("pins"), batch)
            frame = answered(frame, settings, version)
        counted = Observation()
        frame = observed(frame, counted)
        known = write(frame, settings, query_id(settings), batch)
        found = counted.get if known is None else {"answers": known}
        notes.end(Note(batch, found.get("version"), found.get("answers", 0), rejects.count(batch)))


def observed(answers: DataFrame, counted: Observation) -> DataFrame:
    """Count answers as they pass."""
    return answers.observe(counted, F.count(F.lit(1)).alias("answers"), F.max(VERSION).alias("version"))


def query_id(settings: Settings) -> str:
    """Return what no other query is called: it stays with the checkpoint, and is another if that is removed."""
    found = msgspec.json.decode((checkpoint(settings) / "metadata").read_bytes(), type=dict[str, str])
    return found["id"]


def checkpoint(settings: Settings) -> Path:
    """Return where Spark keeps how far the stream is."""
    return settings.state("checkpoint")
