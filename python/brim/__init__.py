"""brim: a rate limiter for APIs. One exact limit over all replicas, in this process or on Redis.

>>> from brim import Limiter
>>> limiter = Limiter("memory://")
>>> limiter.check("user_8421", "5 per minute; 100 per day").remaining
4
"""

from brim._brim import Decision, Limit, Limiter, Limits, LineDecision, RateLimiter, Receipt
from brim._types import Check, LimitsLike
from brim.errors import BrimError, Closed, InvalidArgument, StoreError

__all__ = [
    "BrimError",
    "Check",
    "Closed",
    "Decision",
    "InvalidArgument",
    "Limit",
    "Limiter",
    "Limits",
    "LimitsLike",
    "LineDecision",
    "RateLimiter",
    "Receipt",
    "StoreError",
]
