"""Hypothesis profiles, and who runs beside whom.

`fast` guards a commit, `thorough` is `--hypothesis-profile=thorough`.
"""

import pytest
from hypothesis import settings

settings.register_profile("fast", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile("fast")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests run one after the other, beside all others: they count updates a second."""
    for item in items:
        if item.get_closest_marker("e2e"):
            item.add_marker(pytest.mark.xdist_group("browser"))
