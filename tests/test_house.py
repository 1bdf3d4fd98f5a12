"""The agreement on rooms and names: a lower room never imports a higher one, and the public names stay."""

import ast
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

import tamis

SOURCE = Path(tamis.__file__).parent

#: The rooms, lowest floor first. Rooms on one floor do not import each other.
FLOORS = [
    {"language", "geometry", "sketches"},
    {"matching", "covering", "notification"},
    {"routing"},
    {"healing"},
    {"simulation", "server", "client"},
    {"pipeline"},
    {"lab", "testing"},
    {"cli"},
]

PUBLIC = {
    "BudgetWarning",
    "Change",
    "CoverTable",
    "Estimate",
    "Expression",
    "ExpressionError",
    "Index",
    "IndexChangedError",
    "IndexFileError",
    "Matches",
    "Notify",
    "Overlay",
    "Subscription",
    "SubscriptionError",
    "Watch",
    "WatchSet",
    "connect",
    "covers",
    "engines",
    "intersects",
    "parse",
    "parse_subscription",
    "strategies",
}


def imports(file: Path) -> set[str]:
    """Return the rooms that a file imports from."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("tamis.")}


def test_a_lower_room_never_imports_a_higher_one() -> None:
    rooms = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
    checked = 0
    for file in SOURCE.rglob("*.py"):
        room = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for imported in imports(file) & rooms.keys():
            assert imported == room or rooms[imported] < rooms[room], f"{room} imports {imported}: {file}"
            checked += 1
    assert checked > 20


def test_every_folder_is_a_room_of_the_house() -> None:
    folders = {each.name for each in SOURCE.iterdir() if each.is_dir() and not each.name.startswith("_")}
    assert folders <= set().union(*FLOORS)


def test_public_names() -> None:
    assert set(tamis.__all__) == PUBLIC
    assert all(hasattr(tamis, name) for name in PUBLIC)
    for name in ("add", "add_many", "remove", "replace", "match", "match_batch", "explain", "save", "open", "stats"):
        assert callable(getattr(tamis.Index, name))
    for name in ("matches", "normalized", "attributes"):
        assert hasattr(tamis.Expression, name)
    for name in ("offsets", "positions", "ids", "to_table"):
        assert hasattr(tamis.Index().match_batch(pa.table({"x": [1]})), name)


def test_what_a_spark_source_imports_is_light() -> None:
    """Spark starts processes for every step of a source, and each imports it."""
    code = "import sys, tamis, tamis.pipeline.source; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
