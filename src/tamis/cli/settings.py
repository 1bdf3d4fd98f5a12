"""Settings: the file tamis.toml, then the environment (TAMIS_*), then flags; the later wins."""

from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

import tamis
from tamis.cli.errors import InputError, one_line, unknown

CONFIG_FILE: Final = Path("tamis.toml")
PREFIX: Final = "TAMIS_"
#: A batch is held in memory with all its columns; past this many rows nothing gets faster.
MAX_BATCH_ROWS: Final = 1_000_000

ProgressMode = Literal["auto", "always", "never"]


class Settings(BaseSettings):
    """What can be set once instead of on every command line."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    engine: str = Field("auto", description="matching engine, or auto")
    batch_rows: int = Field(8192, ge=1, le=MAX_BATCH_ROWS, description="events matched at a time")
    progress: ProgressMode = Field("auto", description="progress bars: auto, always or never")
    results_dir: Path = Field(Path("docs/results"), description="where `tamis lab run` writes")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic-settings passes all five
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: flags before the environment before the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, CONFIG_FILE)


class Setting(msgspec.Struct, frozen=True):
    """One merged value and where it came from."""

    name: str
    value: str | int
    origin: str


def load(**flags: Any) -> Settings:
    """Merge file, environment and those flags that are not None; raise `InputError` naming what is wrong."""
    given = _given(flags)
    try:
        settings = Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            raise unknown(f"setting in {CONFIG_FILE}:", name, Settings.model_fields) from None
        raise InputError(f"setting {name} from {_origins(given)[name]}: {first['msg']}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{CONFIG_FILE}: {one_line(error)}") from None
    if settings.engine != "auto" and settings.engine not in tamis.engines():
        raise unknown("engine", settings.engine, ["auto", *tamis.engines()])
    return settings


def explained(**flags: Any) -> list[Setting]:
    """Return every setting with its merged value and its origin."""
    settings = load(**flags)
    origins = _origins(_given(flags))
    values = settings.model_dump(mode="json")
    return [Setting(name, values[name], origins[name]) for name in Settings.model_fields]


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if value is not None}


def _origins(given: dict[str, Any]) -> dict[str, str]:
    environment = EnvSettingsSource(Settings)()
    in_file = TomlConfigSettingsSource(Settings, CONFIG_FILE)()
    origins = {}
    for name in Settings.model_fields:
        if name in given:
            origins[name] = "flag"
        elif name in environment:
            origins[name] = f"environment {PREFIX}{name.upper()}"
        else:
            origins[name] = str(CONFIG_FILE) if name in in_file else "default"
    return origins
