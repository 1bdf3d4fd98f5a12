"""What is raised when a subscription cannot be taken, or an index cannot be opened or changed."""


class SubscriptionError(ValueError):
    """A subscription's id or condition is refused. Nothing was changed."""


class IndexFileError(ValueError):
    """A file of an index is damaged, foreign or from a newer Tamis. The message names it and what is wrong."""


class NewerFormatError(IndexFileError):
    """A file of an index is whole, but a newer Tamis wrote it: an older version must not be opened in its stead."""


class IndexChangedError(RuntimeError):
    """Another writer published a version in the meantime. Nothing was changed."""
