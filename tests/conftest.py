"""Settings for all tests."""

from hypothesis import settings

# Nothing here is timed: a loaded machine must not fail a test. All tests together stay below 25 minutes on two cores;
# `pytest --hypothesis-profile=thorough` looks at more where a test does not say itself how much.
settings.register_profile("tamis", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=400)
settings.load_profile("tamis")
