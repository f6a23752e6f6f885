"""The API of fastapi-limiter 0.1.6, on brim.

    from brim.compat.fastapi_limiter import FastAPILimiter, RateLimiter

What differs: `times=0` refuses every call; routes with path parameters have counters of their own; and when Redis does not
answer, this process decides instead of an error 500. docs/moving-from-fastapi-limiter.md says how to go on.
"""

import math
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeAlias, Unpack
from urllib.parse import quote

from fastapi import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from brim import _brim, aio
from brim._types import Options
from brim.fastapi import route_of

Identifier: TypeAlias = Callable[[Any], Awaitable[str]]
HttpCallback: TypeAlias = Callable[[Request, Response, int], Awaitable[Any]]
WsCallback: TypeAlias = Callable[[WebSocket, int], Awaitable[Any]]


async def default_identifier(request: HTTPConnection) -> str:
    """The first of X-Forwarded-For, which any client may set, else the peer; and the path."""
    forwarded = request.headers.get("X-Forwarded-For")
    peer = request.client.host if request.client else "anonymous"
    return (forwarded.split(",")[0] if forwarded else peer) + ":" + str(request.scope["path"])


def _too_many(pexpire: int) -> HTTPException:
    return HTTPException(429, "Too Many Requests", {"Retry-After": str(math.ceil(pexpire / 1000))})


async def http_default_callback(request: Request, response: Response, pexpire: int) -> None:
    """Refuses; `pexpire` is the milliseconds to wait."""
    raise _too_many(pexpire)


async def ws_default_callback(ws: WebSocket, pexpire: int) -> None:
    """Refuses; `pexpire` is the milliseconds to wait."""
    raise _too_many(pexpire)


def _url_of(redis: Any) -> str:
    """The server of a redis-py client, as a store URL."""
    pool = redis.connection_pool
    settings = pool.connection_kwargs
    login = ""
    if settings.get("password"):
        login = f"{quote(settings.get('username') or '', '')}:{quote(settings['password'], '')}@"
    if "path" in settings:
        return f"unix://{login}{settings['path']}?db={settings.get('db') or 0}"
    scheme = "rediss" if pool.connection_class.__name__.startswith("SSL") else "redis"
    server = f"{settings.get('host', 'localhost')}:{settings.get('port', 6379)}"
    return f"{scheme}://{login}{server}/{settings.get('db') or 0}"


class FastAPILimiter:
    """What all limiters of the app share; init() fills it."""

    redis: ClassVar[Any] = None
    limiter: ClassVar[aio.Limiter | None] = None
    prefix: ClassVar[str | None] = None
    identifier: ClassVar[Identifier]
    http_callback: ClassVar[HttpCallback]
    ws_callback: ClassVar[WsCallback]

    @classmethod
    async def init(
        cls,
        redis: Any,
        prefix: str = "fastapi-limiter",
        identifier: Identifier = default_identifier,
        http_callback: HttpCallback = http_default_callback,
        ws_callback: WsCallback = ws_default_callback,
        **options: Unpack[Options],
    ) -> None:
        """`redis` is a client of redis-py, of which only the address is used, or a store URL of brim. `options` are those
        of a brim.Limiter."""
        options["key_prefix"] = prefix
        cls.redis = redis
        cls.limiter = aio.Limiter(redis if isinstance(redis, str) else _url_of(redis), **options)
        cls.prefix = prefix
        cls.identifier = staticmethod(identifier)
        cls.http_callback = staticmethod(http_callback)
        cls.ws_callback = staticmethod(ws_callback)

    @classmethod
    async def close(cls) -> None:
        """Ends brim's connection, and closes the client that init() was given."""
        if cls.limiter is not None:
            cls.limiter.close()
            cls.limiter = None
        if hasattr(cls.redis, "aclose"):
            await cls.redis.aclose()


class RateLimiter:
    """Depends(RateLimiter(times=2, seconds=5)): at most `times` in a window, which begins with its first call."""

    def __init__(
        self,
        times: int = 1,
        milliseconds: int = 0,
        seconds: int = 0,
        minutes: int = 0,
        hours: int = 0,
        identifier: Identifier | None = None,
        callback: Callable[..., Awaitable[Any]] | None = None,
    ) -> None:
        self.times = times
        self.milliseconds = milliseconds + 1000 * seconds + 60_000 * minutes + 3_600_000 * hours
        self.identifier = identifier
        self.callback = callback
        self._limit = _brim.Limit(times, self.milliseconds / 1000, algorithm="fixed_window")

    async def _wait_of(self, connection: HTTPConnection, scope: str) -> int:
        """0 if the call is admitted, else the milliseconds until one fits."""
        if FastAPILimiter.limiter is None:
            raise RuntimeError("FastAPILimiter.init was not called: await it in the app's lifespan")
        subject = await (self.identifier or FastAPILimiter.identifier)(connection)
        decision = await FastAPILimiter.limiter.check(subject, self._limit, 1, scope)
        return self.milliseconds if decision.retry_after_ms is None else decision.retry_after_ms

    def _place_in(self, connection: HTTPConnection) -> int:
        """Which of the route's dependencies it is; 0 if it stands elsewhere."""
        dependencies = getattr(connection.scope.get("route"), "dependencies", ())
        return next((i for i, one in enumerate(dependencies) if one.dependency is self), 0)

    async def __call__(self, request: Request, response: Response) -> Any:
        wait = await self._wait_of(request, f"{route_of(request)}:{self._place_in(request)}")
        if wait != 0:
            return await (self.callback or FastAPILimiter.http_callback)(request, response, wait)


class WebSocketRateLimiter(RateLimiter):
    """For messages of an open WebSocket: await limiter(socket, context_key) before each."""

    async def __call__(self, ws: WebSocket, context_key: str = "") -> Any:  # type: ignore[override]
        wait = await self._wait_of(ws, f"ws:{context_key}")
        if wait != 0:
            return await (self.callback or FastAPILimiter.ws_callback)(ws, wait)
