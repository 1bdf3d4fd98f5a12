"""What is raised when a subscription cannot be taken."""


class SubscriptionError(ValueError):
    """A subscription's id or condition is refused. Nothing was changed."""
