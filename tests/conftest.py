"""Hypothesis profiles: `fast` guards a commit, `thorough` is `--hypothesis-profile=thorough`."""

from hypothesis import settings

settings.register_profile("fast", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile("fast")
