"""Writers that are killed while they merge and save: what is opened then is one of the versions they published."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import tamis

ROUNDS = 12
#: A writer is killed after so many seconds at most; it is somewhere between two saves, or within one.
LONGEST = 0.25
EVENTS: tuple[dict[str, Any], ...] = (
    {"x": 1, "turn": 1},
    {"x": 4, "s": "12"},
    {"x": 6, "y": 3, "s": "3", "turn": 0},
    {},
)


def test_every_index_that_is_opened_after_a_crash_is_a_version(tmp_path: Path) -> None:
    source = random.Random(3)
    path = tmp_path / "index"
    notes = path.with_suffix(".notes")
    script = Path(__file__).parents[2] / "support" / "saving.py"
    writer = subprocess.Popen(
        [sys.executable, str(script), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    saved, last = 0, -1
    with writer:
        for _ in range(ROUNDS):
            writer.stdin.write("\n")
            killed = int(writer.stdout.readline())
            # It has saved at least once before it is killed.
            assert writer.stdout.readline() == "saved\n"
            timer = threading.Timer(LONGEST * source.random(), os.kill, (killed, signal.SIGKILL))
            timer.start()
            done = 1
            while (line := writer.stdout.readline()) == "saved\n":
                done += 1
            assert line == "dead\n"
            saved += done
            versions = [dict(json.loads(each)) for each in notes.read_text().splitlines() if each.endswith("]]")]
            opened = tamis.Index.open(path)
            found = {id: str(opened.condition(id)) for id in opened}
            # The last version that is known to be saved, or one that was being saved.
            known = [number for number, version in enumerate(versions) if version == found]
            assert known
            assert known[-1] >= last + done
            last = known[-1]
            opened.check_invariants()
            parsed = {id: tamis.parse(text) for id, text in found.items()}
            for event in EVENTS:
                assert sorted(opened.match(event)) == sorted(id for id, each in parsed.items() if each.matches(event))
        writer.stdin.close()
    assert saved >= ROUNDS
    # What the killed left behind is cleared away by those who come after.
    tamis.Index.open(path).save(path)
    assert not [each.name for each in path.iterdir() if each.name.endswith(".tmp")]
    assert len(list(path.glob("version-*"))) == 2
