"""Does a broker stand whatever is sent to it?

    python bench/fuzz.py [--frames 50000] [--http 0.1] [--seed 7] [--json FILE]

Random and mutated frames, and bodies of HTTP requests, over real sockets to a broker in a process of its own. Most
connections greet properly, with a token, as a client or as a broker, and then send frames that are random, mutated, cut
short, too long, or well formed and without sense; others do not even greet. After each frame a harmless request asks
whether the connection still stands: those frames are counted after which it did, and the one with which it ended. In
the end an ordinary client has to be served, the log may show no failure, and the broker's memory must not have grown
since the first tenth. tests/server/test_fuzz.py looks that nothing is left of the others.
"""

import argparse
import http.client
import json
import random
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import quote, urlsplit

import msgspec

from harness.broker import PATIENCE, Running
from harness.figures import Figure, at_least, at_most
from harness.report import tell
from hostile import Hostile
from tamis.client import blocking
from tamis.server import Server, ServerSettings
from tamis.server.link import BrokerHello
from tamis.server.tokens import Entry, hash_of, new_token
from tamis.wire import VERSION, ClientHello, Frames, Unsubscribe, frame

#: So many connections are open at a time, and each carries at most so many hostile frames.
TOGETHER: Final = 64
MOST: Final = 6
#: The requests that ask whether a connection stands have numbers from here on, and a subscription that nobody has.
PROBES: Final = 1 << 60
NOBODY: Final = (1 << 32) - 1
#: Some go on sending so many bytes, whatever the broker says.
FLOOD: Final = 1 << 18
#: So many bytes of what is durable are kept.
STORE: Final = 1 << 24
#: So much more memory at the end, in MiB, is chance and not growth.
SLACK: Final = 8.0

#: Where bodies are sent, and as what.
TARGETS: Final = (
    ("POST", "/events", "application/json"),
    ("POST", "/events", "application/x-ndjson"),
    ("POST", "/events", "application/cloudevents+json"),
    ("POST", "/events", "application/cloudevents-batch+json"),
    ("POST", "/subscriptions", "application/json"),
    ("POST", "/subscriptions", "text/plain"),
    ("GET", "/why?subscription=none&event=", "application/json"),
    ("DELETE", "/subscriptions/none", "application/json"),
)

#: The numbers of `Goodbye` and `Refused`.
GOODBYE: Final = 1
REFUSED: Final = 8


def main() -> None:
    """Attack, print a table, and say whether the broker stood."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--frames", type=int, default=50_000, help="frames and bodies together")
    arguments.add_argument("--http", type=float, default=0.1, help="which share of them are bodies")
    arguments.add_argument("--seed", type=int, help="by chance unless given; printed in any case")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if chosen.seed is None else chosen.seed
    tell({"fuzz": attacked(chosen.frames, chosen.http, seed)}, chosen.json, f", seed {seed}")


class Target(Running):
    """A broker that is attacked, and the tokens that let one in."""

    def __init__(self, pid: int, url: str, web: str, log: Path, tokens: dict[str, str]) -> None:
        super().__init__(pid, url)
        self.web = urlsplit(web).netloc
        self._log = log
        self.token, self.link, self.good = tokens["fuzz"], tokens["link"], tokens["good"]
        self.overlay = Server(ServerSettings(store=log.with_name("none"))).overlay

    def failures(self) -> int:
        """Return how many failures the log shows."""
        return self._log.read_text(errors="replace").count("Traceback")


@contextmanager
def target() -> Iterator[Target]:
    """Run a broker with tokens, and with HTTP."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        tokens = {subject: new_token() for subject in ("fuzz", "link", "good")}
        rights = {
            "fuzz": {"publish": "true", "subscribe": "true", "administer": True, "limits": {"subscriptions": 1_000}},
            "link": {"link": True},
            "good": {"publish": "true", "subscribe": "true"},
        }
        entries = [Entry(subject=each, hash=hash_of(token), **rights[each]) for each, token in tokens.items()]  # type: ignore[arg-type]
        (folder / "tokens.toml").write_text("\n".join(entry.toml() for entry in entries))
        command = [sys.executable, "-c", "from tamis.cli.main import run; run()", "serve", "--port", "0", "--http", "0"]
        command += ["--tokens", str(folder / "tokens.toml"), "--port-file", str(folder / "url"), "--log-json"]
        command += ["--store", str(folder / "store"), "--store-size", str(STORE)]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stderr=log)  # noqa: S603
        try:
            since = time.monotonic()
            listening: list[dict[str, str]] = []
            while not listening:
                if process.poll() is not None or time.monotonic() - since > PATIENCE:
                    raise SystemExit((folder / "log").read_text())
                time.sleep(0.01)
                lines = (folder / "log").read_text().splitlines()
                listening = [json.loads(line) for line in lines if '"broker.listening"' in line]
            yield Target(process.pid, listening[0]["url"], listening[0]["http"], folder / "log", tokens)
        finally:
            process.terminate()
            process.wait()


def attacked(frames: int, share: float, seed: int) -> Iterator[Figure]:
    """Attack a broker."""

    def figure(measure: str, value: float, unit: str = "", **bar: object) -> Figure:
        return Figure("fuzz", f"seed {seed}", 0, measure, value, unit, **bar)  # type: ignore[arg-type]

    with target() as broker:
        attack = Attack(broker, seed)
        began = time.monotonic()
        first = 0
        while attack.frames + attack.bodies < frames:
            if attack.bodies < share * (attack.frames + attack.bodies):
                attack.send_bodies()
            else:
                attack.send_frames()
            if not first and attack.frames + attack.bodies >= frames / 10:
                first = broker.resident_bytes()
        seconds = time.monotonic() - began
        served = is_served(broker)
        growth = (broker.resident_bytes() - first) / (1 << 20)
        failures = broker.failures()
    yield figure("frames", attack.frames)
    yield figure("HTTP bodies", attack.bodies)
    yield figure("connections", attack.connections)
    yield figure("time", seconds, "s")
    yield figure("memory after a tenth", first / (1 << 20), "MiB")
    yield figure("memory more at the end", growth, "MiB", bar=at_most(SLACK))
    yield figure("an ordinary client is served", served, bar=at_least(1))
    yield figure("failures in the log", failures, bar=at_most(0))
    yield figure("connections cut without a reason", attack.ends.pop("reset", 0), bar=at_most(0))
    yield figure(
        "HTTP answers from 500 on", sum(n for code, n in attack.answers.items() if code >= 500), bar=at_most(0)
    )
    for code, number in attack.ends.most_common():
        yield figure(f"connections that ended with {code}", number)
    for answer, number in attack.answers.most_common():
        yield figure(f"HTTP answers {answer}", number)


def is_served(broker: Target) -> bool:
    """Say whether an ordinary client gets what it subscribes to."""
    with blocking.connect(broker.url, token=broker.good) as client, client.subscribe("probe = 1") as events:
        client.publish({"probe": 1})
        return bool(events.take(PATIENCE)["probe"] == 1)


class Attack:
    """Hostile connections, many at a time, and what became of them."""

    def __init__(self, broker: Target, seed: int) -> None:
        self._broker = broker
        self._hostile = Hostile(seed)
        self._web: http.client.HTTPConnection | None = None
        self.frames = self.bodies = self.connections = 0
        #: How connections ended, by the code of the reason; `open` if the broker had nothing against them.
        self.ends: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()

    def send_frames(self) -> None:
        """Open connections, send all that they have to send, and read what the broker says until it closes them."""
        for connection, leaves in [self._open() for _ in range(TOGETHER)]:
            self._finish(connection, leaves)

    def _open(self) -> tuple[socket.socket, bool]:
        chance = self._hostile.chance
        connection = socket.create_connection(self._broker.address, PATIENCE)
        data = []
        greeting = chance.random()
        if greeting < 0.8:
            data.append(frame(ClientHello(VERSION, "fuzz", token=self._broker.token)))
        elif greeting < 0.9:
            name = f"f{chance.randrange(1 << 40)}"
            data.append(frame(BrokerHello(VERSION, name, 1, self._broker.overlay, None, self._broker.link)))
        for probe in range(chance.randint(1, MOST)):
            data += [self._hostile.frame(), frame(Unsubscribe(PROBES + probe, NOBODY))]
        if chance.random() < 0.01:
            data.append(bytes(FLOOD))
        with suppress(OSError):  # the broker may have closed it already
            connection.sendall(b"".join(data))
            connection.shutdown(socket.SHUT_WR)
        # Who says goodbye is not told why the connection ends.
        return connection, any(each[5:6] == bytes([GOODBYE]) for each in data)

    def _finish(self, connection: socket.socket, leaves: bool) -> None:
        frames = Frames(1 << 26)
        end = "open"
        stood = 0
        try:
            while data := connection.recv(1 << 16):
                for body in frames.feed(memoryview(data)):
                    # To a broker the broker says other things as well.
                    message = msgspec.msgpack.decode(body)
                    if message[0] == GOODBYE:
                        end = message[1]
                    elif message[0] == REFUSED and message[1] >= PROBES:
                        stood += 1
        except ConnectionResetError:
            # What it had said may be lost with what it had not read.
            end = "reset" if end == "open" and not leaves else end
        # A reset leaves no port in use for a minute.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        self.connections += 1
        self.ends[end] += 1
        self.frames += stood + (end != "open" or not stood)

    def send_bodies(self) -> None:
        """Send requests with hostile bodies over one connection."""
        web = self._web or http.client.HTTPConnection(self._broker.web, timeout=PATIENCE)
        self._web = web
        for _ in range(TOGETHER):
            method, path, kind = self._hostile.chance.choice(TARGETS)
            headers = {"content-type": kind, "authorization": f"Bearer {self._broker.token}"}
            body = self._hostile.body()
            if method == "GET":
                web.request(method, path + quote(body), headers=headers)
            else:
                web.request(method, path, body, headers)
            answer = web.getresponse()
            answer.read()
            self.answers[answer.status] += 1
            self.bodies += 1


if __name__ == "__main__":
    main()
