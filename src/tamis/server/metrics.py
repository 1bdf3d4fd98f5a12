"""The figures of a broker for Prometheus, collected from its counters when somebody asks: nothing is done per delivery.

Subscriptions are told apart by class only, so that the number of labels is bounded: by protocol (`tcp`, `websocket`,
`sse`, `http`), and whether they have a `notify` clause (`notify`), are durable (`durable`) or neither (`plain`). The
most frequent class, plain ones over TCP, is counted as what is left of all.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from tamis.server.runner import SAMPLED
from tamis.server.traffic import PLAIN_TCP, Protocol

if TYPE_CHECKING:
    from tamis.server.server import Server
    from tamis.server.web.mailbox import Mailbox

#: Counters of the server and of its machine that are shown as they are.
_PLAIN: Final = {
    "published": ("published_events", "Events that clients published here."),
    "refused requests": ("refused_requests", "Requests of clients that were refused."),
    "packets lost": ("lost_packets", "Packets for neighbours that had gone."),
    "store failures": ("store_failures", "How often the store could not be written."),
    "given up": ("given_up_events", "Events that durable subscriptions had not had when they had to go."),
}
_MACHINE: Final = {
    "matches": ("matchings", "How often an event was compared with conditions here."),
    "false positives": (
        "false_positives",
        "Events that came from a neighbour, and of which nobody here was told and no other neighbour either.",
    ),
    "refused": ("refused_packets", "Packets of neighbours that made no sense here."),
}


class Metrics(Collector):
    """Collects. Each broker has a registry of its own."""

    def __init__(self, server: "Server") -> None:
        self._server = server
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def describe(self) -> Iterable[Metric]:
        """Say nothing before somebody asks."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Return all figures."""
        server = self._server
        info = {"broker": server.name, "strategy": server.strategy.name}
        yield InfoMetricFamily("tamis_broker", "Which broker this is.", info)
        for counts, names in ((server.counts, _PLAIN), (server.runner.counts, _MACHINE)):
            for key, (name, text) in names.items():
                yield CounterMetricFamily(f"tamis_{name}", text, counts[key])
        yield from self._traffic()
        yield from self._present()
        latency = server.runner.latency
        yield HistogramMetricFamily(
            "tamis_matching_seconds",
            f"How long it took to find who wants an event that was published here; of one in {SAMPLED} events.",
            latency.buckets(),
            latency.total,
        )

    def _traffic(self) -> Iterator[Metric]:
        """Return what became of events, by class of subscription."""
        server = self._server
        matched = Counter(server.traffic.matched)
        # Durable subscriptions get their events from the store, not from the machine.
        told = sum(value for (_, kind), value in matched.items() if kind != "durable")
        matched[PLAIN_TCP] += server.runner.counts["delivered"] - told
        found = CounterMetricFamily(
            "tamis_matched_events",
            "Events that met a subscription here, once for each subscription.",
            labels=("protocol", "kind"),
        )
        for (protocol, kind), value in sorted(matched.items()):
            found.add_metric((protocol, kind), value)
        yield found
        dropped = server.traffic.dropped + self._dropped()
        lost = CounterMetricFamily(
            "tamis_dropped_events",
            "Events that were not delivered, because somebody was slow (as agreed) or has left.",
            labels=("protocol", "reason"),
        )
        for (protocol, reason), value in sorted(dropped.items()):
            lost.add_metric((protocol, reason), value)
        yield lost
        waiting = self._waiting()
        by_protocol: Counter[Protocol] = Counter()
        for (protocol, _), value in matched.items():
            by_protocol[protocol] += value
        for (protocol, _), value in dropped.items():
            by_protocol[protocol] -= value
        by_protocol.subtract({protocol: events for protocol, (events, _) in waiting.items()})
        done = CounterMetricFamily(
            "tamis_delivered_events", "Events that were handed to connections or fetched.", labels=("protocol",)
        )
        for protocol, value in sorted(by_protocol.items()):
            done.add_metric((protocol,), value)
        yield done
        queued = GaugeMetricFamily("tamis_waiting_events", "Events that wait for subscribers.", labels=("protocol",))
        size = GaugeMetricFamily("tamis_waiting_bytes", "Bytes that wait for subscribers.", labels=("protocol",))
        for protocol, (events, bytes_) in sorted(waiting.items()):
            queued.add_metric((protocol,), events)
            size.add_metric((protocol,), bytes_)
        yield queued
        yield size

    def _present(self) -> Iterator[Metric]:
        """Return who is there."""
        server = self._server
        yield GaugeMetricFamily("tamis_subscriptions", "Subscriptions of clients.", len(server.subscriptions))
        found = GaugeMetricFamily("tamis_connections", "Connections of clients.", labels=("protocol",))
        for protocol, count in sorted(self._connections().items()):
            found.add_metric((protocol,), count)
        yield found
        yield GaugeMetricFamily("tamis_links", "Links to other brokers.", len(server.links))
        waiting = sum(link.connection.waiting for link in server.links)
        yield GaugeMetricFamily("tamis_link_waiting_bytes", "Bytes that wait for neighbours.", waiting)
        behind = float(server.links.are_behind)
        yield GaugeMetricFamily("tamis_links_behind", "Whether clients wait for a neighbour.", behind)

    def _mailboxes(self) -> "list[Mailbox]":
        http = self._server.http
        return [] if http is None else [*http.web.mailboxes, *(kept.mailbox for kept in http.web.kept)]

    def _dropped(self) -> Counter[tuple[Protocol, str]]:
        """Return what was dropped for those who are still there."""
        found: Counter[tuple[Protocol, str]] = Counter()
        for session in self._server.sessions:
            found["tcp", session.connection.outbox.slow] += session.connection.outbox.dropped
        for mailbox in self._mailboxes():
            found[mailbox.protocol, mailbox.slow] += mailbox.dropped
        return found

    def _waiting(self) -> dict[Protocol, tuple[int, int]]:
        """Return how many events and bytes wait."""
        outboxes = [session.connection.outbox for session in self._server.sessions]
        found: dict[Protocol, tuple[int, int]] = {"tcp": (sum(map(len, outboxes)), sum(each.size for each in outboxes))}
        for mailbox in self._mailboxes():
            events, size = found.get(mailbox.protocol, (0, 0))
            found[mailbox.protocol] = events + len(mailbox), size + mailbox.size
        return found

    def _connections(self) -> dict[str, int]:
        http = self._server.http
        found = {"tcp": len(self._server.sessions)}
        return found if http is None else {**found, "http": http.connections}
