"""What every section is given: the engine under test, the sizes, the compiled probe, and a way to say what it does."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.figures import Bar, Figure
from harness.scale import Sizes
from harness.subject import Subject

#: What engines are compiled on, and how much of each: enough for those that build many at once in another way.
WARM_UP: Final = ("w-a", "market")
WARM_UP_SIZE: Final = 1_000
#: The workloads of the yardstick.
YARDSTICK: Final = ("w-a", "w-e", "w-b", "w-r")


@dataclass
class Context:
    """One run."""

    engine: str
    sizes: Sizes
    #: The C++ probe; None where it could not be compiled.
    probe: Path | None
    #: A Python that has the package rule-engine.
    rule_engine_python: str
    #: Is told what is being done.
    doing: Callable[[str], None]
    #: What could not be measured, and why.
    remarks: list[str] = field(default_factory=list)
    _warm: set[str] = field(default_factory=set)

    def subject(self, name: str, subscriptions: int, events: int | None = None, **changes: object) -> Subject:
        """Return a workload of the lab at a size, with as many events as this run has unless told otherwise."""
        self.doing(f"{name}, {subscriptions:,} subscriptions: generating")
        usual = self.sizes.yardstick_events if name in YARDSTICK else self.sizes.events
        return Subject(name, subscriptions, events or usual, **changes)

    def subjects(self, section: str, plan: Iterable[tuple[str, int]]) -> Iterator[Subject]:
        """Yield workloads by name and size; those that the engine under test does not take become a remark."""
        for name, size in plan:
            subject = self.subject(name, size)
            if subject.suits(self.engine):
                yield subject
            else:
                self.remark(f"{section}: {self.engine} takes conjunctions only, and {name} has others.")

    def warm(self, engine: str) -> None:
        """Have an engine's code compiled, so that it is not part of what is measured."""
        if engine in self._warm:
            return
        self._warm.add(engine)
        self.doing(f"compiling {engine}")
        for name in WARM_UP:
            subject = Subject(name, WARM_UP_SIZE, self.sizes.checked)
            if subject.suits(engine):
                for columns in (True, False):
                    subject.check(subject.index(engine, columns), self.sizes.checked)

    def remark(self, text: str) -> None:
        """Note once what could not be measured."""
        if text not in self.remarks:
            self.remarks.append(text)


@dataclass(frozen=True)
class Measured:
    """Makes the figures of one subject."""

    section: str
    subject: str
    subscriptions: int

    def __call__(self, measure: str, value: float, unit: str = "", bar: Bar | None = None) -> Figure:
        """Return a figure."""
        return Figure(self.section, self.subject, self.subscriptions, measure, value, unit, bar)


#: A section: measures, and yields figures as they come.
Section = Callable[[Context], Iterator[Figure]]
