"""A storage for the `limits` library, and so for slowapi and Flask-Limiter: `import brim.compat.limits` registers it.

    brim+memory://                 brim+redis://localhost:6379/0                 brim+unix:///run/redis.sock

Strategies fixed-window and moving-window. A store that gives no answer raises StoreError, so that the fallbacks of those
libraries do their work.
"""

import time
from typing import Any, Unpack

from limits.limits import GRANULARITIES
from limits.storage.base import MovingWindowSupport, Storage

from brim import _brim
from brim._types import Options
from brim.errors import StoreError

_MOST = 10**9  # the most units of a limit: a counter below it is only counted, never refused
_LONGEST = 366 * 86400  # a window that no window's end lies behind: for looking, whatever the window is


def _counter(window_seconds: float) -> _brim.Limit:
    return _brim.Limit(_MOST, window_seconds, algorithm="fixed_window", key="plain")


def _answered(decision: _brim.Decision) -> _brim.Decision:
    if decision.store_error is not None:
        raise StoreError("the store gave no answer", decision.store_error)
    return decision


def _window_of(key: str) -> int | None:
    """The seconds of a key of `limits`, which ends in amount/multiples/granularity."""
    parts = key.rsplit("/", 2)
    if len(parts) < 3 or not parts[1].isdigit() or parts[2] not in GRANULARITIES:
        return None
    return int(parts[1]) * GRANULARITIES[parts[2]].GRANULARITY.seconds


class BrimStorage(Storage, MovingWindowSupport):
    """Counts for the strategies of `limits`. Thread-safe."""

    STORAGE_SCHEME = ["brim+memory", "brim+redis", "brim+rediss", "brim+unix"]

    def __init__(self, uri: str, wrap_exceptions: bool = False, **options: Unpack[Options]) -> None:
        super().__init__(uri, wrap_exceptions)
        self._make = {"store": uri.removeprefix("brim+"), "key_prefix": "limits", "on_failure": "closed"} | options
        self._limiter = self._open()

    def _open(self) -> _brim.Limiter:
        options: Any = self._make
        return _brim.Limiter(**options)

    @property
    def base_exceptions(self) -> type[Exception]:
        return StoreError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        return _MOST - _answered(self._limiter.charge(key, _counter(expiry), amount)).remaining

    def get(self, key: str) -> int:
        return _MOST - _answered(self._limiter.peek(key, _counter(_LONGEST))).remaining

    def get_expiry(self, key: str) -> float:
        return time.time() + _answered(self._limiter.peek(key, _counter(_LONGEST))).reset_after_ms / 1000

    def check(self) -> bool:
        return self._limiter.peek("check", _counter(_LONGEST)).store_error is None

    def reset(self) -> int | None:
        if not self._limiter.embedded:
            raise NotImplementedError("brim removes the keys of a limit it is told, never all of a server")
        self._limiter.close()
        self._limiter = self._open()
        return None

    def clear(self, key: str) -> None:
        self._limiter.reset(key, _counter(_LONGEST))
        window = _window_of(key)
        if window is not None:
            self._limiter.reset(key, _brim.Limit(1, window, weighted=True))

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return _answered(self._limiter.check(key, _brim.Limit(limit, expiry, weighted=True), amount)).allowed

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        used = limit - _answered(self._limiter.peek(key, _brim.Limit(limit, expiry, weighted=True))).remaining
        if used == 0:
            return time.time(), 0
        # Under a limit of just what is used, the next unit fits when the oldest entry leaves.
        full = _answered(self._limiter.peek(key, _brim.Limit(used, expiry, weighted=True)))
        return time.time() + (full.retry_after_ms or 0) / 1000 - expiry, used
