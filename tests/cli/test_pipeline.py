"""`tamis pipeline` writes a job that runs, says what is wrong with one, and stops a stream after its batch."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

#: Nothing takes longer, however busy the machine is.
PATIENCE = 300.0
Invoke = Callable[..., Result]
COMMAND = Path(sys.executable).with_name("tamis")


def test_init_writes_a_job_once(invoke: Invoke, tmp_path: Path) -> None:
    first = invoke("pipeline", "init", tmp_path / "job")
    assert first.exit_code == 0
    assert (tmp_path / "job" / "pipeline.toml").exists()
    again = invoke("pipeline", "init", tmp_path / "job")
    assert again.exit_code == 2
    assert "is there already: nothing was written" in again.stderr


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_job_that_cannot_be_read_is_told_in_a_line(invoke: Invoke, tmp_path: Path, command: str) -> None:
    invoke("pipeline", "init", tmp_path)
    file = tmp_path / "pipeline.toml"
    file.write_text(file.read_text().replace('path = "answers"', 'pth = "answers"'))
    result = invoke("pipeline", command, file)
    assert result.exit_code == 2
    assert "there is no setting sink.pth; did you mean path?" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_check_without_files_needs_no_spark(invoke: Invoke, tmp_path: Path) -> None:
    invoke("pipeline", "init", tmp_path)
    (tmp_path / "subscriptions.csv").unlink()
    result = invoke("pipeline", "check", tmp_path / "pipeline.toml", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert not found["fine"]
    assert [each["section"] for each in found["findings"] if each["level"] == "error"] == ["subscriptions"]


def test_a_summary_names_what_was_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from tamis.cli.pipeline import _print_summary
    from tamis.pipeline.job.running import Summary

    refused = ["file:/events/[1].parquet: it is damaged"]
    _print_summary(Summary("alerts", "stream", "end", 2, 10, 3, 4, refused, 6, 1, 1, 2.0, 5.0))
    said = capsys.readouterr().out
    assert "Refused and put aside with their reasons: 4 records, 1 subscriptions." in said
    assert "  file:/events/[1].parquet: it is damaged\n  … and 3 more\n" in said


@pytest.mark.slow
def test_a_stream_that_is_told_to_stop_ends_well_after_its_batch(invoke: Invoke, tmp_path: Path) -> None:
    invoke("pipeline", "init", tmp_path)
    file = tmp_path / "pipeline.toml"
    file.write_text(file.read_text().replace('mode = "catch-up"', 'mode = "stream"'))
    command = [str(COMMAND), "pipeline", "run", str(file), "--json"]
    with (tmp_path / "stderr").open("wb") as errors:
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
        try:
            end = time.monotonic() + PATIENCE
            while not (tmp_path / "state/checkpoint/commits/1").exists():
                assert time.monotonic() < end
                assert job.poll() is None, (tmp_path / "stderr").read_text()
                time.sleep(0.05)
            os.kill(job.pid, signal.SIGTERM)
            printed, _ = job.communicate(timeout=PATIENCE)
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
    said = (tmp_path / "stderr").read_text()
    assert job.returncode == 0, said
    summary = json.loads(printed)
    assert summary["ended"] == "stopped"
    # Every batch that was begun was ended: what is written is what is noted.
    commits = {int(each.name) for each in (tmp_path / "state/checkpoint/commits").glob("[0-9]*")}
    written = {int(each.name.removeprefix("batch=")) for each in (tmp_path / "answers").glob("batch=*")}
    assert written == commits == set(range(summary["batches"]))
    assert "version 1: 6 subscriptions, 1 refused" in said
    assert "batch 0: " in said
