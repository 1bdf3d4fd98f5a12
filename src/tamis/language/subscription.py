"""What a subscriber writes: a condition, and optionally from when on it wants to be told again.

subscription := condition ["notify" name "moves" amount ["per" name]]
amount       := ["by" "factor"] distance | share
distance     := number | "between" number "and" number
share        := number "%" | "between" number "%" "and" number "%"

None of these words is reserved: where `notify` follows a whole condition, no text that is a condition goes on.
"""

import math
from typing import Any

import msgspec

from tamis.language.notify import Notify, share
from tamis.language.parser import DIGITS, Parser, checked_text
from tamis.language.tokens import END
from tamis.language.tree import Expression


class Subscription(msgspec.Struct, frozen=True, gc=False):
    """A condition, which filters first, and a clause, which then decides by how far a value has moved.

    `str()` gives the canonical text, which parses back to an equal subscription.
    """

    condition: Expression
    notify: Notify | None = None

    def normalized(self) -> "Subscription":
        """Return the canonical form: it is told of exactly the same events."""
        return Subscription(self.condition.normalized(), self.notify.normalized() if self.notify else None)

    def __str__(self) -> str:
        return str(self.condition) if self.notify is None else f"{self.condition} {self.notify}"


def parse_subscription(text: str | bytes) -> Subscription:
    """Return the subscription that a text states, or raise `ExpressionError`. Bytes are read as UTF-8."""
    return _SubscriptionParser(checked_text(text)).subscription()


class _SubscriptionParser(Parser):
    __slots__ = ()

    follow = "'and', 'or', 'notify' or the end"

    def subscription(self) -> Subscription:
        condition = self.condition()
        if self.tokens[self.at] is END:
            return Subscription(condition)
        if self.word() != "notify":
            raise self.left_over(condition)
        self.at += 1
        return Subscription(condition, self.clause())

    def clause(self) -> Notify:
        """Parse what stands after `notify`, up to the end."""
        attribute = self.name()
        self.expect("moves", "expected 'moves' and how far")
        measures = self.amount()
        key = None
        if self.word() == "per":
            self.at += 1
            key = self.name()
            if self.tokens[self.at] is not END:
                raise self.error("expected the end")
        elif self.tokens[self.at] is not END:
            raise self.error("expected 'per' or the end")
        return Notify(attribute, key=key, **measures)

    def amount(self) -> dict[str, Any]:
        """Parse how far, as fields of `Notify`."""
        factor = self.word() == "by"
        if factor:
            self.at += 1
            self.expect("factor", "expected 'factor'")
        if self.word() != "between":
            must, percent = self.distance(factor)
            return {_measure(factor, percent): must}
        self.at += 1
        may, percent = self.distance(factor)
        self.expect("and", "expected 'and' and from where on one must be told")
        at = self.at
        must, both = self.distance(factor)
        if percent and not both:
            raise self.error("expected '%', as after the other number")
        if both and not percent:
            raise self.error("expected no '%', or one after both numbers", back=1)
        if may > must:
            raise self.error("expected a number that is not below the one before 'and'", back=self.at - at)
        return {_measure(factor, percent): must, "may": may}

    def distance(self, factor: bool) -> tuple[float, bool]:
        """Parse a number above 0, or 1 if it is a factor; say whether it is in per cent."""
        token = self.tokens[self.at]
        wanted = "expected a number above 1" if factor else "expected a number above 0"
        if token[:1] not in DIGITS or token == ".":
            raise self.error(wanted)
        percent = self.tokens[self.at + 1] == "%" and not factor
        number = share(token) if percent else float(token)
        if math.isinf(number):
            raise self.error("this number is too large for a double")
        if number <= factor:
            raise self.error(wanted)
        self.at += 1 + percent
        return number, percent


def _measure(factor: bool, percent: bool) -> str:
    return "factor" if factor else "relative" if percent else "radius"
