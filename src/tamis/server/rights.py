"""What somebody may do: publish, subscribe, administer, be a neighbouring broker; and within which condition.

A right to publish or subscribe is a condition over events, so content itself is the boundary between tenants. Whatever
protocol somebody comes by, `Server.rights_of` finds the rights that a token gives, and a `Guest` keeps to them:

- it subscribes to nothing outside of its right: the right is and-ed to what it asks for;
- it publishes nothing outside of its right: an event of which the right is false or unknown is refused;
- what it is told, of errors, numbers or reasons, never shows names or content that it could not have subscribed to.
  So `/why` is for one's own subscriptions and for events that the right `sees`; numbers about the broker as a whole
  need `may_administer` where tokens are asked for; and the text of a right itself is not shown to whom it limits, since
  it may name others.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tamis.language import And, Constant, Expression, ExpressionError, parse_subscription
from tamis.language.spelling import joined
from tamis.routing.conditions import asked as as_asked
from tamis.routing.conditions import parsed
from tamis.server.limits import Limits
from tamis.wire import ProtocolError

#: The condition of a right that covers everything.
ALL: Final = Constant(True)


class Rights(msgspec.Struct, frozen=True, kw_only=True):
    """What a token allows, or, where nobody is asked for one, everything."""

    #: Who it is: the name in the file of tokens; empty where nobody is asked.
    subject: str = ""
    #: The hash of the token, by which it is found again when the file has changed; empty where nobody is asked.
    key: str = ""
    #: The events that may be published and those that may be subscribed to; None for none, `true` for all.
    publish: Expression | None = None
    subscribe: Expression | None = None
    #: Whether it may see how the broker is and what it does for all together.
    may_administer: bool = False
    #: Whether it may join the overlay as a broker: then it is trusted with everything.
    may_link: bool = False
    #: From then on the token is worth nothing.
    expires: dt.datetime | None = None
    limits: Limits = Limits()

    @classmethod
    def everything(cls, limits: Limits | None = None) -> "Rights":
        """Return all rights: what everybody has where no tokens are asked for."""
        return cls(publish=ALL, subscribe=ALL, may_administer=True, may_link=True, limits=limits or Limits())

    def has_expired(self, now: dt.datetime) -> bool:
        """Say whether the token is worth nothing any more."""
        return self.expires is not None and now >= self.expires

    def sees(self, content: Mapping[str, Any]) -> bool:
        """Say whether an event may be subscribed to. Of others nothing may be told, not even that they are there."""
        return self.subscribe is not None and self.subscribe.matches(content)

    def check_publish(self, content: Mapping[str, Any]) -> None:
        """Raise `ProtocolError` (`forbidden`) if an event may not be published; unknown is not enough."""
        if self.publish is None:
            raise ProtocolError("forbidden", "this token gives no right to publish")
        if self.publish is not ALL and not self.publish.matches(content):
            raise ProtocolError("forbidden", "the event is outside of the right to publish that this token gives")

    def narrowed(self, condition: str) -> str:
        """Return a subscription with the right and-ed to its condition. Its `notify` clause stays, and measures only
        events within the right.

        Without any right it is a `ProtocolError` (`forbidden`), with a condition that is too long another
        (`condition-too-large`), and what is no condition is an `ExpressionError` about the text as it was given.
        """
        if self.subscribe is None:
            raise ProtocolError("forbidden", "this token gives no right to subscribe")
        limit = self.limits.condition
        if len(condition) > limit or (not condition.isascii() and len(condition.encode(errors="replace")) > limit):
            raise ProtocolError("condition-too-large", f"a condition has at most {limit:,} bytes here")
        if self.subscribe is ALL:
            return condition
        asked = parse_subscription(condition)
        within = msgspec.structs.replace(asked, condition=joined(And, (self.subscribe, asked.condition)))
        text = str(within)
        try:
            parsed(as_asked(text).condition)  # as brokers will read it
        except ExpressionError:
            # The message would be about a text that the client has not written and may not see.
            raise ProtocolError(
                "condition-too-large",
                "together with the right that this token gives, the condition is too long or too deep",
            ) from None
        return text
