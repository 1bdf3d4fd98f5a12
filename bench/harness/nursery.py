"""Brokers that start at once: one process imports everything and then forks a broker for each line that it reads.

    python -m harness.nursery

A line is a JSON object: settings of a broker, and under `url` the file that its address is written to. The answer is a
line with the number of its process. When nothing more can be read, the nursery ends, and all of its brokers with it.
"""

import asyncio
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any, Final

import msgspec

from tamis.server import Server, ServerSettings, joining
from tamis.server.server import run, serve_until

#: Seconds until a broker calls again, at most: a test has no time for longer ones.
LONGEST_PAUSE: Final = 0.4


def main() -> None:
    """Fork a broker for each line of standard input."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    joining.LONGEST_PAUSE = LONGEST_PAUSE  # type: ignore[misc]
    children: list[int] = []
    for line in sys.stdin:
        given: dict[str, Any] = msgspec.json.decode(line)
        child = os.fork()
        if child == 0:
            _serve(given)
        children.append(child)
        print(child, flush=True)
    for child in children:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _serve(given: dict[str, Any]) -> None:
    url = Path(given.pop("url"))
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
    status = 1
    try:
        settings = ServerSettings(**given | {"join": tuple(given["join"]), "store": Path(given["store"])})
        run(_served(Server(settings), url))
        status = 0
    except Exception:  # noqa: BLE001 - whoever has started it wants to know
        traceback.print_exc()
    finally:
        os._exit(status)


async def _served(server: Server, url: Path) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)

    def ready(server: Server) -> None:
        part = url.with_suffix(".part")
        part.write_text(server.url)
        part.replace(url)

    await serve_until(server, ready, stop)


if __name__ == "__main__":
    main()
