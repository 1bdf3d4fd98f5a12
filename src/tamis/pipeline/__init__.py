"""The same questions on Spark: subscriptions and events as tables and streams."""

from typing import TYPE_CHECKING

from tamis.later import later

if TYPE_CHECKING:
    from tamis.pipeline.compiling import compile  # noqa: A004 - it is one
    from tamis.pipeline.covering import Cover, cover
    from tamis.pipeline.differing import Difference, diff
    from tamis.pipeline.errors import AttributeWarning, StoreError
    from tamis.pipeline.keeping import manifest, prune, rejects, subscriptions, use, versions
    from tamis.pipeline.log import EventLog
    from tamis.pipeline.manifests import Manifest
    from tamis.pipeline.matching import check, match
    from tamis.pipeline.notifying import notify
    from tamis.pipeline.pins import pinned
    from tamis.pipeline.recalling import remembered
    from tamis.pipeline.replaying import Replay, replay
    from tamis.pipeline.schema import subscription_schema
    from tamis.pipeline.source import LogSource, read_events
    from tamis.pipeline.updating import update

__all__ = [
    "AttributeWarning",
    "Cover",
    "Difference",
    "EventLog",
    "LogSource",
    "Manifest",
    "Replay",
    "StoreError",
    "check",
    "compile",
    "cover",
    "diff",
    "manifest",
    "match",
    "notify",
    "pinned",
    "prune",
    "read_events",
    "rejects",
    "remembered",
    "replay",
    "subscription_schema",
    "subscriptions",
    "update",
    "use",
    "versions",
]

__getattr__ = later(
    __name__,
    {
        **dict.fromkeys(["AttributeWarning", "StoreError"], "tamis.pipeline.errors"),
        **dict.fromkeys(["Cover", "cover"], "tamis.pipeline.covering"),
        **dict.fromkeys(["Difference", "diff"], "tamis.pipeline.differing"),
        "EventLog": "tamis.pipeline.log",
        **dict.fromkeys(["LogSource", "read_events"], "tamis.pipeline.source"),
        "Manifest": "tamis.pipeline.manifests",
        **dict.fromkeys(["Replay", "replay"], "tamis.pipeline.replaying"),
        **dict.fromkeys(["check", "match"], "tamis.pipeline.matching"),
        "compile": "tamis.pipeline.compiling",
        **dict.fromkeys(["manifest", "prune", "rejects", "subscriptions", "use", "versions"], "tamis.pipeline.keeping"),
        "notify": "tamis.pipeline.notifying",
        "pinned": "tamis.pipeline.pins",
        "remembered": "tamis.pipeline.recalling",
        "subscription_schema": "tamis.pipeline.schema",
        "update": "tamis.pipeline.updating",
    },
)
