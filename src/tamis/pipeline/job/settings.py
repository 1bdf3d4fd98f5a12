"""What stands in a `pipeline.toml`. A key that is not known is refused by its name and line."""

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

import msgspec

from tamis.pipeline.matching import Strategy
from tamis.pipeline.task import Output

#: `batch` reads all events once; `catch-up` those that came since the last run, and ends; `stream` goes on.
Mode = Literal["batch", "catch-up", "stream"]
EventFormat = Literal["json", "csv", "parquet", "log", "kafka", "tamis"]
SinkFormat = Literal["json", "csv", "parquet", "kafka", "tamis", "postgres"]
#: Which Kafka connector: the standard one where it is there and otherwise ours, or one of them.
Connector = Literal["auto", "spark", "python"]

#: What the file of a job is called, where only its folder is named.
NAME: Final = "pipeline.toml"

#: Formats that are files in a folder.
FILES: Final = ("json", "csv", "parquet")

_Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
_Positive = Annotated[float, msgspec.Meta(gt=0)]
_Count = Annotated[int, msgspec.Meta(ge=1)]


class SettingsError(ValueError):
    """A `pipeline.toml` cannot be used. The message names the file, the line and what is wrong."""


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The job as a whole."""

    name: _Name
    mode: Mode = "batch"
    #: The folder for what the job must remember: compiled subscriptions, checkpoint, rejects.
    state: str = "state"
    #: In a stream: seconds from one micro-batch to the next; 0 is as soon as there is something.
    every: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class Spark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which Spark. Under spark-submit `master` is left to it."""

    master: str | None = None
    #: A Spark Connect server, such as `sc://host:15002`.
    remote: str | None = None
    #: Spark's own settings, as texts.
    conf: dict[str, str] = {}


class Changes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A feed of changes of subscriptions: files that are added to a folder."""

    path: str
    format: Literal["json", "parquet"]


class Subscriptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the conditions are."""

    #: Files as below; `jdbc`, a database; `tamis`, a broker; any other is one of Spark's, with its options.
    format: str
    path: str | None = None
    options: dict[str, str] = {}
    #: In a stream: every so many seconds it is looked whether they have changed.
    refresh: _Positive = 10.0
    #: Once compiled, they change by this feed alone.
    changes: Changes | None = None


class Events(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the events come from."""

    format: EventFormat
    #: A folder or file; of `tamis` where what is received is kept.
    path: str | None = None
    #: The columns, as in SQL: `symbol string, price double`. Parquet and an event log know theirs.
    schema: str | None = None
    options: dict[str, str] = {}
    connector: Connector = "auto"
    #: What one micro-batch takes at most: files, segments or records.
    most: _Count | None = None


class Match(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How events are matched, as the arguments of `match`."""

    output: Output = "pairs"
    columns: list[str] | None = None
    strategy: Strategy = "auto"


class Notify(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How matches are held back that do not move enough, as the arguments of `notify`."""

    sequence: str
    identity: str | None = None
    #: In the measure of the sequence: seconds, if it is a time.
    lateness: float = 0
    ttl: float | None = None
    shards: _Count | None = None


class Sink(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the answers go."""

    format: SinkFormat
    #: Of files: the folder.
    path: str | None = None
    options: dict[str, str] = {}
    connector: Connector = "auto"
    #: Columns that make an event unique: then notifications keep their ids whatever happens.
    key: list[str] = []


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    job: Job
    subscriptions: Subscriptions
    events: Events
    sink: Sink
    spark: Spark = Spark()
    match: Match = Match()
    notify: Notify | None = None

    def state(self, *parts: str) -> Path:
        """Return a place below the job's folder."""
        return Path(self.job.state, *parts)

    @property
    def store(self) -> Path:
        """Where the compiled subscriptions are."""
        return self.state("subscriptions")


def load(file: str | Path) -> Settings:
    """Read a `pipeline.toml`, or that of a folder. Paths in it are below its own folder, unless they are absolute."""
    path = Path(file)
    if path.is_dir():
        path /= NAME
    try:
        text = path.read_text()
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; `tamis pipeline init` writes an example") from None
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: {error}") from None
    try:
        settings = msgspec.convert(given, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(_told(path, text, str(error))) from None
    _check(path, text, settings)
    return _below(path.resolve().parent, settings)


def _told(path: Path, text: str, message: str) -> str:
    """Say in which line a setting is wrong, and what may have been meant."""
    where = re.search(r" - at `\$\.?([^`]*)`", message)
    place = where[1].removesuffix("[...]") if where else ""
    said = re.sub(r" - at `.*`$", "", message)
    unknown = re.match(r"Object contains unknown field `(.*)`", said)
    missing = re.match(r"Object missing required field `(.*)`", said)
    if unknown:
        known = _known(place)
        close = get_close_matches(unknown[1], known, n=1, cutoff=0.5)
        place = f"{place}.{unknown[1]}" if place else unknown[1]
        said = f"there is no setting {place}; " + (
            f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
        )
    elif missing:
        said = f"{f'[{place}]' if place else 'the file'} lacks {missing[1]}"
    elif place:
        said = f"{place}: {said}{_choices(place)}"
    return f"{path}{_line(text, place)}: {said}"


def _known(place: str) -> list[str]:
    kind: Any = Settings
    for part in filter(None, place.split(".")):
        kind = _Kinds[part]
    return [field.encode_name for field in msgspec.structs.fields(kind)]


def _choices(place: str) -> str:
    """Return what may stand there, if it is one of a few words."""
    table, _, key = place.rpartition(".")
    kind = _Kinds.get(table.rpartition(".")[2])
    fields = msgspec.structs.fields(kind) if kind is not None else ()
    words = next((get_args(field.type) for field in fields if field.encode_name == key), ())
    return f"; it is {', '.join(words[:-1])} or {words[-1]}" if words and all(isinstance(w, str) for w in words) else ""


_Kinds: Final[Mapping[str, Any]] = {
    "job": Job,
    "spark": Spark,
    "subscriptions": Subscriptions,
    "changes": Changes,
    "events": Events,
    "match": Match,
    "notify": Notify,
    "sink": Sink,
}


def _line(text: str, place: str) -> str:
    """Return where a setting stands, as far as that can be told from the text."""
    table, _, key = place.rpartition(".")
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\s*([^\]]+?)\s*\]", line)
        if header:
            current = header[1]
            if current == place:
                return f", line {number}"
        elif current == table and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""", line):
            return f", line {number}"
    return ""


def _check(path: Path, text: str, settings: Settings) -> None:
    """Refuse what each section may have but not together."""

    def refuse(place: str, said: str) -> None:
        raise SettingsError(f"{path}{_line(text, place)}: {said}")

    events, sink, subscriptions = settings.events, settings.sink, settings.subscriptions
    if settings.spark.master and settings.spark.remote:
        refuse("spark.remote", "[spark] has a master or a remote, not both")
    if subscriptions.format in FILES and subscriptions.path is None:
        refuse("subscriptions", "[subscriptions] lacks a path")
    if subscriptions.format == "tamis" and not subscriptions.options.get("url", "").startswith("http"):
        refuse(
            "subscriptions", "[subscriptions.options] lacks a 'url', the address of a broker's HTTP: http://host:7480"
        )
    if events.format in (*FILES, "log", "tamis") and events.path is None:
        refuse("events", "[events] lacks a path")
    if events.format in ("json", "csv", "kafka", "tamis") and events.schema is None:
        refuse("events", f"[events] lacks a schema: {events.format} does not tell the types of its columns")
    if events.format == "tamis" and settings.job.mode == "batch":
        refuse("job.mode", "a broker has no table of events: mode is stream or catch-up")
    if sink.format in FILES and sink.path is None:
        refuse("sink", "[sink] lacks a path")
    needed = {"kafka": ["kafka.bootstrap.servers", "subscribe"], "tamis": ["url", "durable"]}.get(events.format, [])
    for name in needed:
        if name not in events.options:
            refuse("events", f"[events.options] lacks {name!r}")
    needed = {"kafka": ["kafka.bootstrap.servers", "topic"], "tamis": ["url"], "postgres": ["dsn", "table"]}.get(
        sink.format, []
    )
    for name in needed:
        if name not in sink.options:
            refuse("sink", f"[sink.options] lacks {name!r}")
    if sink.format == "csv" and settings.match.output == "lists" and settings.notify is None:
        refuse("match.output", "csv knows no lists: output is pairs")


def _below(folder: Path, settings: Settings) -> Settings:
    """Make paths absolute: workers have other folders."""

    def put(section: Any) -> Any:
        path = getattr(section, "path", None)
        return section if path is None or "://" in path else msgspec.structs.replace(section, path=str(folder / path))

    subscriptions = put(settings.subscriptions)
    if subscriptions.changes is not None:
        subscriptions = msgspec.structs.replace(subscriptions, changes=put(subscriptions.changes))
    return msgspec.structs.replace(
        settings,
        job=msgspec.structs.replace(settings.job, state=str(folder / settings.job.state)),
        subscriptions=subscriptions,
        events=put(settings.events),
        sink=put(settings.sink),
    )
