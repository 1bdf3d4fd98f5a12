"""A writer of indexes for tests to kill. Run with a folder; for each line on standard input it forks a process.

That process opens the index in the folder, if there is one, and changes and saves it for ever. Of every version it
tells beforehand, in a file beside the folder, which subscriptions it will have.
"""

import json
import os
import random
import sys
from pathlib import Path

import tamis
from tamis.matching.segments import living

#: Subscriptions that are added at a time.
MANY = 40


def condition(id: int, turn: int) -> str:
    """Return the condition that an id has from a turn on."""
    return f"x = {id % 7} and turn <= {turn}" if id % 3 else f"(x > {id % 5} or y = {id}) and s like '%{turn}%'"


def note(path: Path, expected: dict[int, str]) -> None:
    """Tell what the next version holds, before it is saved."""
    with path.open("ab", buffering=0) as file:
        # On a line of its own, even if the writer before was killed within one.
        file.write(f"\n{json.dumps(sorted(expected.items()))}\n".encode())


def write(path: Path, notes: Path) -> None:
    """Change and save for ever."""
    # Parts are made and merged all the time.
    vars(living).update(AT_ONCE=30, FULL_HEAD=16, ALIKE=2)
    index = tamis.Index.open(path) if path.exists() and any(path.glob("version-*")) else tamis.Index()
    expected = {id: str(index.condition(id)) for id in index if isinstance(id, int)}
    source = random.Random()
    turn = 0
    while True:
        turn += 1
        top = max(expected, default=0) + 1
        new = {id: condition(id, turn) for id in range(top, top + source.choice((1, 5, MANY)))}
        index.add_many(list(new), list(new.values()))
        expected |= {id: str(tamis.parse(text)) for id, text in new.items()}
        for id in source.sample(sorted(expected), min(len(expected), 3)):
            index.replace(id, condition(id, turn))
            expected[id] = str(tamis.parse(condition(id, turn)))
        gone = source.sample(sorted(expected), max(0, len(expected) - 5 * MANY))
        index.remove_many(gone)
        for id in gone:
            del expected[id]
        note(notes, expected)
        index.save(path)
        os.write(1, b"saved\n")


def main(folder: str) -> None:
    """Fork a writer for each line."""
    path = Path(folder)
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            os.write(1, f"{os.getpid()}\n".encode())
            write(path, path.with_suffix(".notes"))
        os.waitpid(child, 0)
        os.write(1, b"dead\n")


if __name__ == "__main__":
    main(sys.argv[1])
