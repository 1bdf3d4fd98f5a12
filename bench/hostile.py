"""What a hostile or broken program may send: random and mutated frames, and bodies of HTTP requests, from a seed."""

import random
from collections.abc import Callable
from typing import Any

import msgspec

from tamis.routing.packets import Event, Filters, Plain
from tamis.server.link import BrokerHello, Carried, Handed, HandedEvent, Have, Side
from tamis.wire import (
    MAX_LINK_FRAME,
    VERSION,
    Acknowledge,
    Alive,
    AskStats,
    ClientHello,
    Goodbye,
    Publish,
    Subscribe,
    Unsubscribe,
    frame,
)

_CONDITIONS = (
    "x > 1",
    "a = 'b' and not (c like '%d' or e is null)",
    "p between 1 and 2 notify p moves 5% per s",
    "x >> 1",
)
_CONTENTS: tuple[dict[str, Any], ...] = (
    {"x": 2},
    {"a": "b", "tags": ["c", {"d": None}], "p": 1.5},
    {"x": 2**63, "s": b"\xff\xfe", "": {}},
)


class Hostile:
    """Frames and bodies by chance; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - it is to be repeatable
        self._kinds: tuple[Callable[[], bytes], ...] = (
            self._noise,
            self._framed_noise,
            self._nonsense,
            self._mutated,
            self._mutated,
            self._mutated_body,
            self._mutated_body,
            self._length,
            self._well_formed,
        )

    def frame(self) -> bytes:
        """Return bytes that a broker may take for one frame, or for several, or for none."""
        return self.chance.choice(self._kinds)()

    def body(self) -> bytes:
        """Return what may come as the body of an HTTP request."""
        chance = self.chance
        which = chance.randrange(4)
        if which == 0:
            return chance.randbytes(chance.randrange(200))
        if which == 1:
            return msgspec.json.encode(self._value(0))
        data = msgspec.json.encode(
            chance.choice([{"condition": chance.choice(_CONDITIONS)}, {"x": 1, "y": [1, {"z": None}]}])
        )
        if which == 2:
            data = b"\n".join([data] * chance.randrange(4))
        return bytes(self._spoiled(bytearray(data)))

    # --- kinds -------------------------------------------------------------------------------------------

    def _noise(self) -> bytes:
        return self.chance.randbytes(self.chance.randrange(64))

    def _framed_noise(self) -> bytes:
        return _framed(self.chance.randbytes(self.chance.randrange(300)))

    def _nonsense(self) -> bytes:
        """Msgpack that is no message, or nearly one."""
        value = self._value(0)
        if self.chance.random() < 0.7:
            value = [self.chance.randrange(24), *(self._value(1) for _ in range(self.chance.randrange(6)))]
        return _framed(msgspec.msgpack.encode(value))

    def _mutated(self) -> bytes:
        return bytes(self._spoiled(bytearray(frame(self._message()))))

    def _mutated_body(self) -> bytes:
        """As `_mutated`, but the length is right, so that the body is looked at."""
        return _framed(bytes(self._spoiled(bytearray(frame(self._message())[4:]))))

    def _length(self) -> bytes:
        length = self.chance.choice((0, 1, 1 << 16, (1 << 20) + 1, MAX_LINK_FRAME + 1, (1 << 32) - 1))
        return length.to_bytes(4, "big") + self.chance.randbytes(self.chance.randrange(8))

    def _well_formed(self) -> bytes:
        return frame(self._message())

    # --- what they are made of ---------------------------------------------------------------------------

    def _message(self) -> msgspec.Struct:
        chance = self.chance
        number = chance.randrange(1, 1 << chance.randrange(1, 58))
        makers: tuple[Callable[[], msgspec.Struct], ...] = (
            lambda: ClientHello(chance.choice((VERSION, VERSION, 0, 7)), "f" * chance.randrange(300)),
            lambda: Publish(number, f"id{chance.randrange(100)}", chance.choice(_CONTENTS)),
            lambda: Publish(number, "deep", {"x": self._deep()}),
            lambda: Subscribe(number, chance.randrange(4), chance.choice(_CONDITIONS)),
            lambda: Publish(number, f"d{chance.randrange(100)}", {"x": 2}, None, True),
            lambda: Subscribe(
                number, chance.randrange(4), "x > 1", f"kept{chance.randrange(3)}", 1 + chance.randrange(9)
            ),
            lambda: Acknowledge(chance.randrange(4), chance.randrange(1 << chance.randrange(1, 62))),
            lambda: Unsubscribe(number, chance.randrange(4), chance.random() < 0.5),
            lambda: AskStats(number),
            lambda: Alive(),
            lambda: Goodbye("slow", "x" * chance.randrange(400)),
            lambda: BrokerHello(VERSION, f"b{chance.randrange(9)}", number, "{}", None),
            lambda: Side(("b1", "b2")),
            lambda: Carried(Plain(Event("e", {"x": 1}))),
            lambda: Carried(Filters((), ("x > 1",))),
            lambda: Have({"o": number}, chance.random() < 0.5),
            lambda: Handed("o", 0, [HandedEvent(chance.randrange(9), "e", msgspec.Raw(b"\x81\xa1x\x01"))]),
        )
        return chance.choice(makers)()

    def _spoiled(self, data: bytearray) -> bytearray:
        chance = self.chance
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(data) + 1)
            match chance.randrange(5):
                case 0:
                    data[place : place + 1] = chance.randbytes(1)
                case 1:
                    data[place:place] = chance.randbytes(chance.randrange(1, 6))
                case 2:
                    del data[place : place + chance.randrange(1, 6)]
                case 3:
                    del data[place:]
                case _:
                    data[place:place] = data[place // 2 : place]
        return data

    def _value(self, depth: int) -> Any:
        chance = self.chance
        which = chance.randrange(10 if depth < 4 else 7)
        match which:
            case 0:
                return chance.choice((None, True, False))
            case 1:
                return chance.randrange(-(1 << 63), 1 << 64)
            case 2:
                return chance.choice((0, -1, 1.5, float("nan"), float("inf"), -0.0, 1e308))
            case 3:
                return chance.randbytes(chance.randrange(20))
            case 4 | 5:
                return chance.choice(_CONDITIONS)[: chance.randrange(20)]
            case 6:
                return chance.randrange(20)
            case 7 | 8:
                return [self._value(depth + 1) for _ in range(chance.randrange(5))]
            case _:
                return {str(self._value(9)): self._value(depth + 1) for _ in range(chance.randrange(5))}

    def _deep(self) -> Any:
        value: Any = 1
        for _ in range(self.chance.randrange(1, 200)):
            value = [value] if self.chance.random() < 0.5 else {"x": value}
        return value


def _framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body
