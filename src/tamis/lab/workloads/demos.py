"""Workloads as applications have them: market alerts, sensors, advertisements."""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from tamis.lab.workloads.events import TableEvents
from tamis.lab.workloads.schema import Attribute, Category, Flag, Moment, Number, Tags, conditions, events
from tamis.lab.workloads.workload import ArbitraryConditions, WorkloadSpec

_DAY: Final = "2026-01-05"
_CONSONANTS, _VOWELS = "BDFGKLMNPRSTVZ", "AEIOU"


class Demo(WorkloadSpec, frozen=True, kw_only=True):
    """Realistic events, and conditions on a key attribute together with any mixture on the others."""

    KEY: ClassVar[Category]
    OTHERS: ClassVar[Sequence[Attribute]]

    def asked(self, rng: np.random.Generator, shared: None, count: int) -> ArbitraryConditions:  # noqa: ARG002
        """Draw conditions."""
        return conditions(rng, self.KEY, self.OTHERS, count)

    def told(self, rng: np.random.Generator, shared: None, count: int) -> TableEvents:  # noqa: ARG002
        """Draw events."""
        return events(rng, (self.KEY, *self.OTHERS), count)


class Market(Demo, frozen=True, kw_only=True):
    """Alerts on the trades of a stock exchange."""

    KEY: ClassVar[Category] = Category("symbol", [a + b + c for a in _CONSONANTS for b in _VOWELS for c in _CONSONANTS])
    OTHERS: ClassVar[Sequence[Attribute]] = (
        Number("price", mean=4, deviation=0.8, logarithmic=True),
        Number("change", mean=0, deviation=1.5),
        Number("volume", mean=9, deviation=1.5, decimals=0, logarithmic=True),
        Category("sector", ["technology", "finance", "health", "energy", "industry", "retail", "utilities"]),
        Category("exchange", ["XNYS", "XNAS", "XLON", "XPAR", "XETR"], absent=0.05),
        Flag("halted", true=0.02),
        Moment("traded_at", start=_DAY, hours=8),
    )


class Iot(Demo, frozen=True, kw_only=True):
    """Rules on the readings of sensors, with nested attributes and tags."""

    KEY: ClassVar[Category] = Category("device.id", [f"dev-{number:04d}" for number in range(1, 2001)], exponent=0.5)
    OTHERS: ClassVar[Sequence[Attribute]] = (
        Category("device.site", [f"site-{number:02d}" for number in range(1, 41)]),
        Category("device.model", ["th-100", "th-200", "px-1", "px-2", "cam-7", "gw-3"]),
        Number("device.battery", mean=60, deviation=20, decimals=0, least=0, greatest=100),
        Category("device.firmware.channel", ["stable", "beta", "nightly"], absent=0.1),
        Number("reading.temperature", mean=21, deviation=6, decimals=1),
        Number("reading.humidity", mean=45, deviation=12, decimals=1, least=0, greatest=100),
        Flag("online", true=0.95),
        Tags("tags", ["indoor", "outdoor", "critical", "rented", "legacy", "cold-chain", "solar", "test"]),
        Moment("at", start=_DAY, hours=24),
    )


class AdTargeting(Demo, frozen=True, kw_only=True):
    """Campaigns that choose among the visitors of a site."""

    KEY: ClassVar[Category] = Category(
        "country", ["US", "CN", "DE", "FR", "GB", "IN", "BR", "JP", "CA", "IT", "ES", "NL", "SE", "PL"]
    )
    OTHERS: ClassVar[Sequence[Attribute]] = (
        Number("age", mean=38, deviation=13, decimals=0, least=14, greatest=99),
        Category("gender", ["female", "male"], exponent=0, absent=0.2),
        Tags("interests", ["sport", "music", "travel", "food", "games", "cars", "fashion", "books"], most=5),
        Category("device", ["mobile", "desktop", "tablet", "television"]),
        Category("os", ["android", "ios", "windows", "macos", "linux"], absent=0.1),
        Number("visits", mean=1.5, deviation=1, decimals=0, logarithmic=True),
        Flag("subscriber", true=0.15),
        Category("page.section", ["news", "sport", "money", "culture", "weather", "video"]),
        Moment("visited_at", start=_DAY, hours=24),
    )
