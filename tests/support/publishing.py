"""A writer for the tests of `versions` to kill. Run with a folder and the word `crash` or a number.

`crash`: for each line on standard input, start a process that publishes for ever, and tell its number; each version
that it has published is told too. A number: publish that many versions, each counting one more than the last.
"""

import os
import random
import sys
from pathlib import Path

import numpy as np

from tamis.matching.segments.arrays import read_arrays, write_arrays
from tamis.matching.segments.versions import Folder, Version

#: How many files a version names at most.
FILES = 4


def content(name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return what is in a file of this name."""
    source = random.Random(name)
    return np.array([source.randrange(2**60) for _ in range(source.randrange(200))], np.int64)


def publish_one(folder: Folder) -> Version:
    """Publish a version with one file more, and without the first if there are too many."""
    with folder.writing():
        old = folder.latest() if folder.versions() else Version(0, (), {"count": 0})
        name = folder.new_name("segment")
        write_arrays(folder.path / name, {"rows": content(name)}, {"name": name})
        files = [*old.files, name][-FILES:]
        version = folder.publish(files, {"count": old.meta["count"] + 1, "files": files})
        folder.collect()
        return version


def check_whole(folder: Folder, version: Version) -> Version:
    """Raise unless all files of a version are what the writer made."""
    assert list(version.files) == version.meta["files"]
    assert len(version.files) == min(FILES, version.meta["count"])
    for name in version.files:
        arrays, meta = read_arrays(folder.path / name)
        assert meta == {"name": name}
        assert arrays["rows"].tolist() == content(name).tolist()
    return version


def main(path: str, mode: str) -> None:
    """Publish."""
    folder = Folder(Path(path))
    if mode != "crash":
        for _ in range(int(mode)):
            publish_one(folder)
        return
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            os.write(1, f"{os.getpid()}\n".encode())
            while True:
                os.write(1, f"{publish_one(Folder(Path(path))).number}\n".encode())
        os.waitpid(child, 0)
        os.write(1, b"dead\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
