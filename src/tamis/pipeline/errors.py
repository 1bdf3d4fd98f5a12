"""What is raised and warned of in the pipeline."""


class StoreError(ValueError):
    """A folder of compiled subscriptions is damaged or foreign, or lacks a version. The message says what and where."""


class AttributeWarning(UserWarning):
    """Conditions ask for what the events cannot have: an attribute without a column, or a value of another kind."""
