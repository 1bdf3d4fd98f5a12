"""Notes tell a watcher in another process what is being done and what is done."""

from pathlib import Path

from tamis.pipeline.job.notes import Note, Notes


def test_notes_of_a_run(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "batches")
    notes.open()
    assert (notes.begun(), notes.of(0), notes.stops()) == (None, None, False)
    notes.begin(5)
    notes.end(Note(5, 2, 10, 1))
    assert Notes(tmp_path / "batches").begun() == 5
    assert Notes(tmp_path / "batches").of(5) == Note(5, 2, 10, 1)
    notes.ask_to_stop()
    assert notes.stops()
    # Another run begins with a clean sheet, but what was done stays noted.
    notes.open()
    assert (notes.begun(), notes.stops(), notes.of(5)) == (None, False, Note(5, 2, 10, 1))


def test_old_notes_are_removed(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    for batch in range(1_005):
        notes.end(Note(batch, 1, 0, 0))
    assert notes.of(4) is None
    assert notes.of(5) is not None
