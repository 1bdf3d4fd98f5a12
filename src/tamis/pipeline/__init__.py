"""The same questions on Spark: subscriptions and events as tables and streams."""

from tamis.pipeline.compiling import compile  # noqa: A004 - it is one
from tamis.pipeline.covering import Cover, cover
from tamis.pipeline.differing import Difference, diff
from tamis.pipeline.errors import AttributeWarning, StoreError
from tamis.pipeline.log import EventLog
from tamis.pipeline.manifest import Manifest
from tamis.pipeline.matching import check, match
from tamis.pipeline.notifying import notify
from tamis.pipeline.pins import pinned
from tamis.pipeline.remembered import remembered
from tamis.pipeline.replaying import Replay, replay
from tamis.pipeline.source import LogSource, read_events
from tamis.pipeline.subscriptions import subscription_schema
from tamis.pipeline.updating import update
from tamis.pipeline.versions import manifest, prune, rejects, subscriptions, use, versions

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
