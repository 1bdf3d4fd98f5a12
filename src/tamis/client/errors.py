"""What can go wrong for a client. Conditions that are none are an `ExpressionError`, as everywhere."""


class ClientError(Exception):
    """Anything that a client of a broker may have to deal with."""


class ConnectionLostError(ClientError):
    """There is no broker at the address, or the client was closed."""


class BrokerError(ClientError):
    """The broker refused something, or closed the connection for good. `code` is one of docs/protocol.md."""

    def __init__(self, code: str, message: str, position: int | None = None, after: float | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.position = position
        #: In so many seconds the same would be accepted, if the broker said so.
        self.after = after


class SlowConsumerError(BrokerError):
    """Events came faster than they were taken, more waited than were allowed to, and the subscription has ended."""


class EventTypeError(ClientError):
    """An event meets the condition but is not of the type that was asked for. The subscription goes on."""

    def __init__(self, id: str | int, message: str) -> None:
        super().__init__(f"event {id!r}: {message}")
        self.id = id
