"""The pytest plugin of brim; it is found by itself."""

import pytest

from brim._brim import ManualClock


@pytest.fixture
def manual_clock() -> ManualClock:
    """A clock for `Limiter(clock=...)` that moves only by `advance(seconds)`."""
    return ManualClock()
