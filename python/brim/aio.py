"""The limiter for asyncio: the names of `brim.Limiter`, to be awaited.

With the embedded store a check is answered at once. With a server all checks that are asked in one turn of the loop
leave in one write, and one wake-up brings all answers that have come meanwhile. A task that is cancelled while it
waits does not disturb the others; its check may have been charged.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import select
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Concatenate, ParamSpec, Self, Unpack

from brim import _brim
from brim._types import Check, LimitsLike, Options

_Answer = tuple[_brim.Decision, _brim.Receipt]
_Of = ParamSpec("_Of")


class _Answers:
    """What one event loop waits for. Used in that loop's thread alone."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.completions = _brim.Completions()
        self._waiting: dict[int, asyncio.Future[_Answer]] = {}
        self._numbers = itertools.count()
        try:
            loop.add_reader(self.completions.fileno(), self._take)
        except NotImplementedError:  # a loop that cannot watch descriptors: a thread does it for it
            watcher = threading.Thread(target=_watch, args=(self.completions, weakref.ref(loop), weakref.ref(self)))
            watcher.daemon = True
            watcher.start()

    def _take(self) -> None:
        for number, decision, receipt in self.completions.take():
            future = self._waiting.pop(number, None)
            if future is not None and not future.done():  # a cancelled one may be either
                future.set_result((decision, receipt))

    async def of(
        self,
        start: Callable[Concatenate[_brim.Completions, int, _Of], _Answer | None],
        *arguments: _Of.args,
        **named: _Of.kwargs,
    ) -> _Answer:
        """start(completions, number, *arguments), and the answer that it gives or that comes later."""
        number = next(self._numbers)
        answer = start(self.completions, number, *arguments, **named)
        if answer is not None:
            return answer
        future: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            return await future
        finally:
            self._waiting.pop(number, None)


def _watch(
    completions: _brim.Completions,
    loop: weakref.ref[asyncio.AbstractEventLoop],
    answers: weakref.ref[_Answers],
) -> None:
    """Tells the loop of answers. Ends with the loop, which it looks for once a second when nothing comes."""
    poll = select.poll()
    poll.register(completions.fileno(), select.POLLIN)
    while True:
        woken = poll.poll(1000)
        living, waiting = loop(), answers()
        if living is None or waiting is None or living.is_closed():
            return
        if woken:
            taken = threading.Event()
            try:
                living.call_soon_threadsafe(_take_and_tell, waiting, taken)
            except RuntimeError:  # closed between the two lines
                return
            del living, waiting
            taken.wait(1)


def _take_and_tell(answers: _Answers, taken: threading.Event) -> None:
    answers._take()
    taken.set()


_answers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Answers] = weakref.WeakKeyDictionary()
# A forked child gets an eventfd of its own, even in a copy of its parent's loop.
os.register_at_fork(after_in_child=_answers.clear)


def _answers_here() -> _Answers:
    loop = asyncio.get_running_loop()
    answers = _answers.get(loop)
    if answers is None:
        answers = _answers[loop] = _Answers(loop)
    return answers


class Limiter:
    """A limiter on a store of its own, or on that of a `brim.Limiter`, whose options and kill switch it shares."""

    def __init__(self, store: str | _brim.Limiter = "memory://", **options: Unpack[Options]) -> None:
        if isinstance(store, _brim.Limiter):
            if options:
                raise TypeError("options belong to the brim.Limiter that is passed")
            self._limiter = store
        else:
            self._limiter = _brim.Limiter(store, **options)

    @property
    def sync(self) -> _brim.Limiter:
        """The same limiter for code that is not asynchronous."""
        return self._limiter

    @property
    def disabled(self) -> bool:
        """Whether limiting is off: by this flag, or by RATE_LIMIT_DISABLED=true in os.environ."""
        return self._limiter.disabled

    @disabled.setter
    def disabled(self, disabled: bool) -> None:
        self._limiter.disabled = disabled

    async def check(self, subject: str, limits: LimitsLike, cost: int = 1, scope: str = "") -> _brim.Decision:
        """Charges all limits, or none."""
        if self._limiter.embedded:
            return self._limiter.check(subject, limits, cost, scope)
        return (await _answers_here().of(self._limiter.start_check, subject, limits, cost, scope))[0]

    async def check_with_receipt(
        self, subject: str, limits: LimitsLike, cost: int = 1, scope: str = ""
    ) -> tuple[_brim.Decision, _brim.Receipt]:
        """A check, and what `refund` takes to give exactly this back."""
        return await _answers_here().of(self._limiter.start_check_with_receipt, subject, limits, cost, scope)

    async def peek(self, subject: str, limits: LimitsLike, scope: str = "") -> _brim.Decision:
        """Whether one unit would fit now. Writes nothing."""
        return await self.check(subject, limits, 0, scope)

    async def charge(self, subject: str, limits: LimitsLike, cost: int = 1, scope: str = "") -> _brim.Decision:
        """Charges all limits, past them too: for what is known only afterwards."""
        return (await _answers_here().of(self._limiter.start_charge, subject, limits, cost, scope))[0]

    async def refund(
        self,
        subject: str,
        limits: LimitsLike,
        cost: int = 1,
        scope: str = "",
        receipt: _brim.Receipt | None = None,
    ) -> _brim.Decision:
        """Gives back what the receipt says, which it uses up; else the oldest units, at most what was used."""
        return (await _answers_here().of(self._limiter.start_refund, subject, limits, cost, scope, receipt))[0]

    async def reset(self, subject: str, limits: LimitsLike, scope: str = "") -> int:
        """Forgets what the subject used under these limits; tells how many keys there were."""
        if self._limiter.embedded:
            return self._limiter.reset(subject, limits, scope)
        return await asyncio.to_thread(self._limiter.reset, subject, limits, scope)

    async def check_batch(self, checks: Iterable[Check]) -> list[_brim.Decision]:
        """Many checks, each atomic by itself; a server gets them in one write."""
        if self._limiter.embedded:
            return self._limiter.check_batch(list(checks))
        return await asyncio.gather(*(self.check(*check) for check in checks))

    def close(self) -> None:
        """Ends the connection; checks under way get their answer from the failure policy. Later ones raise Closed."""
        self._limiter.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()


class RateLimiter:
    """The small form: a user, a limit, a window in seconds (sliding_window)."""

    def __init__(self, redis_url: str = "redis://localhost:6379/0", **options: Unpack[Options]) -> None:
        self._limiter = Limiter(redis_url, **options)

    async def check(
        self, user_id: str, limit: int, window_seconds: float, scope: str = ""
    ) -> tuple[bool, int, int]:
        """(allowed, remaining, retry_after_s)."""
        decision = await self._limiter.check(user_id, _brim.Limit(limit, window_seconds), 1, scope)
        never = math.ceil(window_seconds)  # a tuple has no word for it: the window says when to look again
        return decision.allowed, decision.remaining, never if decision.retry_after is None else decision.retry_after

    def close(self) -> None:
        self._limiter.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()
