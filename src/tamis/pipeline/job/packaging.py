"""What spark-submit needs to run a job on machines where Tamis is not installed.

An archive with the installed Tamis and all that it needs but Spark, which the cluster has. Executors unpack it into
their folder and find it by `PYTHONPATH`. They have the same platform and the same Python as here, without any package.
"""

import re
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

import tamis
from tamis.pipeline.session import STACK

ARCHIVE: Final = "tamis-env.tar.gz"
PROGRAM: Final = "tamis_job.py"
#: The folder into which executors unpack the archive.
ALIAS: Final = "tamis_env"
#: Parts of Tamis that a job may need, beside what it always needs.
_EXTRAS: Final = ("spark", "kafka", "postgres")
#: The cluster has it.
_LEFT_OUT: Final = frozenset({"pyspark", "py4j"})
_PROGRAM: Final = '''\
"""Runs a Tamis pipeline: `spark-submit … {program} pipeline.toml`."""

import sys

from tamis.cli.main import app

app(["pipeline", "run", *sys.argv[1:]])
'''
#: Quickly packed is what counts: it is mostly machine code.
_LEVEL: Final = 1


def package(folder: str | Path) -> list[Path]:
    """Write the archive and the program to a folder, and return both files."""
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    archive = root / ARCHIVE
    part = archive.with_name(archive.name + ".part")
    with tarfile.open(part, "w:gz", compresslevel=_LEVEL) as tar:
        for path, name in sorted(set(contents()), key=lambda each: each[1]):
            tar.add(path, name, recursive=False)
    part.replace(archive)
    return [archive, write_program(root)]


def write_program(folder: Path) -> Path:
    """Write the program that spark-submit runs to a folder, and return it."""
    program = folder / PROGRAM
    program.write_text(_PROGRAM.format(program=PROGRAM))
    return program


def submit_command(files: list[Path], settings: str = "pipeline.toml") -> str:
    """Return the command that runs a job with what was packed."""
    archive, program = files
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"spark-submit --archives {archive}#{ALIAS} --conf spark.executorEnv.PYTHONPATH={ALIAS} \\\n"
        f"    --conf spark.pyspark.python=python{version} --driver-java-options {STACK} {program} {settings}"
    )


def contents() -> Iterator[tuple[Path, str]]:
    """Yield the files that are packed, with their names in the archive."""
    source = Path(tamis.__file__).parent
    for path in source.rglob("*"):
        # Wherever it was installed from: a link to a working copy has no list of files.
        if path.is_file() and "__pycache__" not in path.parts:
            yield path, f"tamis/{path.relative_to(source)}"
    for name in distributions():
        for file in metadata.distribution(name).files or ():
            path = Path(str(file.locate()))
            # Programs lie beside the packages; they are no part of them.
            if ".." not in file.parts and "__pycache__" not in file.parts and path.is_file():
                yield path, str(file)


def distributions() -> list[str]:
    """Return the installed packages that Tamis needs, and those that they need, without Spark."""
    waiting = [*_wanted(_requirements(), _EXTRAS)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in found or name in _LEFT_OUT:
            continue
        try:
            requires = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            # It is for another platform or Python, or for an extra that is not installed.
            continue
        found.add(name)
        waiting += _wanted(requires, ())
    return sorted(found)


def _requirements() -> list[str]:
    """Return what Tamis needs. A working copy says it itself: what was noted when it was installed may be old."""
    project = Path(tamis.__file__).parents[2] / "pyproject.toml"
    if not project.is_file():
        return metadata.requires("tamis") or []
    given = tomllib.loads(project.read_text())["project"]
    extras = given["optional-dependencies"].items()
    return [*given["dependencies"], *(f"{text}; extra == '{name}'" for name, texts in extras for text in texts)]


def _wanted(requires: list[str], extras: tuple[str, ...]) -> Iterator[str]:
    for text in requires:
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", text)
        name = re.match(r"[A-Za-z0-9._-]+", text)
        if name is not None and (extra is None or extra[1] in extras):
            yield re.sub(r"[-_.]+", "-", name[0]).lower()
