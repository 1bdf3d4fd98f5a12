"""Settings for all tests."""

from hypothesis import settings

# Nothing here is timed: a loaded machine must not fail a test.
settings.register_profile("tamis", deadline=None)
settings.load_profile("tamis")
