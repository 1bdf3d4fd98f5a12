"""The world in real time: a broker process, its clients and its links over TCP."""

from tamis.server.server import Server
from tamis.server.settings import ServerSettings

__all__ = ["Server", "ServerSettings"]
