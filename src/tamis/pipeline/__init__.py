"""The same questions on Spark: subscriptions and events as tables and streams."""

from tamis.pipeline.compiling import compile  # noqa: A004 - it is one
from tamis.pipeline.errors import AttributeWarning, StoreError
from tamis.pipeline.log import EventLog
from tamis.pipeline.manifest import Manifest
from tamis.pipeline.matching import check, match
from tamis.pipeline.pins import pinned
from tamis.pipeline.source import LogSource, read_events
from tamis.pipeline.subscriptions import subscription_schema
from tamis.pipeline.updating import update
from tamis.pipeline.versions import manifest, prune, rejects, use, versions

__all__ = [
    "AttributeWarning",
    "EventLog",
    "LogSource",
    "Manifest",
    "StoreError",
    "check",
    "compile",
    "manifest",
    "match",
    "pinned",
    "prune",
    "read_events",
    "rejects",
    "subscription_schema",
    "update",
    "use",
    "versions",
]
