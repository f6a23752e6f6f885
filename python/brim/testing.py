"""For the tests of your limits, without sleeping.

    clock = ManualClock()
    limiter = Limiter(clock=clock)
    clock.advance(60)

With pytest, the fixture `manual_clock` is such a clock.
"""

from brim._brim import ManualClock

__all__ = ["ManualClock"]
