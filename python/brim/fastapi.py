"""brim for FastAPI and Starlette.

    from brim.fastapi import Limiter, install, rate_limit

    app = FastAPI(dependencies=[Depends(rate_limit)])      # by tier, of request.state.user_id
    limiter = Limiter("redis://localhost:6379/0")
    install(app, limiter)

    @app.get("/search", dependencies=[Depends(limiter.limit("5/minute"))])
    async def search(q: str): ...
"""

import functools
import os
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import fastapi.routing
from fastapi import FastAPI, HTTPException, Response, WebSocketException
from fastapi.dependencies.models import Dependant
from starlette.requests import HTTPConnection

from brim import _brim, aio
from brim._types import LimitsLike

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

TIERS: Mapping[str, LimitsLike] = {
    "free": "5 per minute; 100 per day",
    "pro": "60 per minute; 5000 per day",
    "enterprise": "600 per minute; 100000 per day",
}
_NOTHING: Mapping[str, Any] = {}
_TRY_AGAIN_LATER = 1013  # the close code of a WebSocket
_RESPONSE = {"description": "Rate limit exceeded", "headers": {
    "Retry-After": {"description": "Seconds until the request fits", "schema": {"type": "integer"}}}}


# What follows is done for every request. So it reads the scope, where Starlette keeps what `request.state` and the like
# make objects for, and does without exceptions.


def user_of(connection: HTTPConnection) -> str:
    """Whom to limit: `state.user_id`, which the app's authentication sets; else the peer, by address."""
    user_id = connection.scope.get("state", _NOTHING).get("user_id")
    if user_id is not None and user_id != "":
        return str(user_id)
    client = connection.scope.get("client")
    return f"address:{client[0]}" if client else "anonymous"


def tier_of(connection: HTTPConnection) -> str:
    """Its tier: `state.tier`, or free."""
    return connection.scope.get("state", _NOTHING).get("tier") or "free"


def route_of(connection: HTTPConnection) -> str:
    """The name of its route, which counters are kept under: function and path, whatever the path's parameters are."""
    scope = connection.scope
    # In an included router the route knows its path without the router's prefix; the context knows all of it.
    route = scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")
    return f"{getattr(scope.get('endpoint'), '__name__', '')}{getattr(route, 'path_format', scope['path'])}"


@functools.cache
def _default_limiter() -> aio.Limiter:
    return aio.Limiter(os.environ.get("BRIM_STORE", "memory://"))


def _limiter_of(connection: HTTPConnection) -> aio.Limiter:
    app = connection.scope.get("app")
    limiter = getattr(app.state, "limiter", None) if app is not None else None
    if limiter is None:
        return _default_limiter()
    if isinstance(limiter, _brim.Limiter):
        return aio.Limiter(limiter)
    if isinstance(limiter, aio.Limiter):
        return limiter
    raise TypeError(f"app.state.limiter must be a limiter of brim, not {type(limiter).__name__}")


class _Told:
    """The decision that the headers of a response tell: of several, the tightest."""

    __slots__ = ("by_middleware", "decision", "headers")

    def __init__(self, by_middleware: bool) -> None:
        self.by_middleware = by_middleware
        self.decision: _brim.Decision | None = None
        self.headers: list[tuple[bytes, bytes]] = []

    def add(self, limits: _brim.Limits, decision: _brim.Decision) -> bool:
        """Whether it is the tightest so far."""
        if self.decision is not None and self.decision.remaining < decision.remaining and decision:
            return False
        self.decision, self.headers = decision, limits.raw_headers(decision)
        return True

    def put_into(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Adds the headers, in the place of any that are there by these names."""
        if headers:
            names = {name for name, _ in self.headers}
            headers[:] = [header for header in headers if header[0].lower() not in names]
        headers += self.headers


def _status_and_detail(decision: _brim.Decision) -> tuple[int, str]:
    if decision.reason == "fail_closed":
        return 503, "Rate limiter unavailable"
    return 429, "Rate limit exceeded"


def _told_of(connection: HTTPConnection) -> _Told:
    told: _Told | None = connection.scope.get("brim.told")
    if told is None:
        told = connection.scope["brim.told"] = _Told(by_middleware=False)
    return told


def _refusal(connection: HTTPConnection, limits: _brim.Limits, decision: _brim.Decision) -> Exception:
    status, detail = _status_and_detail(decision)
    if connection.scope["type"] == "websocket":
        return WebSocketException(_TRY_AGAIN_LATER, detail)
    return HTTPException(status, detail, dict(limits.headers(decision)))


class Limit:
    """A dependency: charges `limits` and refuses with 429 (a WebSocket: with close code 1013).

    `subject` and `cost` may look at the connection. The counters are those of the route, unless `scope` names others.
    """

    def __init__(
        self,
        limits: LimitsLike,
        *,
        limiter: aio.Limiter | None = None,
        subject: Callable[[HTTPConnection], str] = user_of,
        cost: int | Callable[[HTTPConnection], int] = 1,
        scope: str | None = None,
    ) -> None:
        self._limits = _brim.Limits(limits)
        self._limiter = limiter
        self._subject = subject
        self._cost = cost
        self._scope = scope

    def _limits_of(self, connection: HTTPConnection) -> _brim.Limits:
        return self._limits

    async def __call__(self, connection: HTTPConnection, response: Response) -> _brim.Decision:
        limits = self._limits_of(connection)
        scope = route_of(connection) if self._scope is None else self._scope
        cost = self._cost if isinstance(self._cost, int) else self._cost(connection)
        limiter = self._limiter or _limiter_of(connection)
        decision = await limiter.check(self._subject(connection), limits, cost, scope)
        told = _told_of(connection)
        if told.add(limits, decision) and not told.by_middleware:
            told.put_into(response.raw_headers)
        if not decision:
            raise _refusal(connection, limits, decision)
        return decision


class RateLimit(Limit):
    """The dependency that limits a user by tier, over all routes together. An unknown tier counts as free."""

    def __init__(
        self,
        tiers: Mapping[str, LimitsLike] = TIERS,
        *,
        limiter: aio.Limiter | None = None,
        subject: Callable[[HTTPConnection], str] = user_of,
        tier: Callable[[HTTPConnection], str] = tier_of,
        cost: int | Callable[[HTTPConnection], int] = 1,
        scope: str = "",
    ) -> None:
        self._tiers = {name: _brim.Limits(limits) for name, limits in tiers.items()}
        super().__init__(self._tiers["free"], limiter=limiter, subject=subject, cost=cost, scope=scope)
        self._tier = tier

    def _limits_of(self, connection: HTTPConnection) -> _brim.Limits:
        return self._tiers.get(self._tier(connection), self._limits)


rate_limit = RateLimit()


class Limiter(aio.Limiter):
    """`brim.aio.Limiter`, and the dependencies that use it."""

    def limit(
        self,
        limits: LimitsLike,
        *,
        subject: Callable[[HTTPConnection], str] = user_of,
        cost: int | Callable[[HTTPConnection], int] = 1,
        scope: str | None = None,
    ) -> Limit:
        """A dependency with these limits: Depends(limiter.limit("5/minute"))."""
        return Limit(limits, limiter=self, subject=subject, cost=cost, scope=scope)


class RateLimitMiddleware:
    """Pure ASGI. Puts the headers of the tightest decision on every response, once; and limits all requests by itself
    if it is given `limits`. Streams, WebSockets and background tasks pass through untouched."""

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        limits: LimitsLike | None = None,
        *,
        limiter: aio.Limiter | None = None,
        subject: Callable[[HTTPConnection], str] = user_of,
        scope: str = "",
    ) -> None:
        self._app = app
        self._limits = None if limits is None else _brim.Limits(limits)
        self._limiter = limiter
        self._subject = subject
        self._scope = scope

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        outer: _Told | None = scope.get("brim.told")
        told = outer or _Told(by_middleware=True)
        scope["brim.told"] = told
        if self._limits is not None:
            connection = HTTPConnection(scope)
            limiter = self._limiter or _limiter_of(connection)
            decision = await limiter.check(self._subject(connection), self._limits, 1, self._scope)
            told.add(self._limits, decision)
            if not decision:
                return await _refuse(scope, decision, told, send)
        if outer is not None or scope["type"] == "websocket":
            return await self._app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start" and told.headers:
                headers = list(message.get("headers", ()))
                told.put_into(headers)
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_with_headers)


async def _refuse(scope: Scope, decision: _brim.Decision, told: _Told, send: Send) -> None:
    status, detail = _status_and_detail(decision)
    kind = scope["type"]
    if kind == "websocket":
        if "websocket.http.response" not in scope.get("extensions", {}):
            return await send({"type": "websocket.close", "code": _TRY_AGAIN_LATER, "reason": detail})
        kind = "websocket.http"
    body = _brim.body(decision)
    about = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": f"{kind}.response.start", "status": status, "headers": about + told.headers})
    await send({"type": f"{kind}.response.body", "body": body})


def _is_limited(dependant: Dependant) -> bool:
    return isinstance(dependant.call, Limit) or any(map(_is_limited, dependant.dependencies))


def _routes(app: FastAPI) -> list[Any]:
    """The API routes with their whole paths; newer versions of FastAPI keep those of included routers apart."""
    contexts = getattr(fastapi.routing, "iter_route_contexts", None)
    routes = app.routes if contexts is None else contexts(app.routes)
    return [route for route in routes if isinstance(getattr(route, "original_route", route), fastapi.routing.APIRoute)]


def install(app: FastAPI, limiter: aio.Limiter | _brim.Limiter | None = None) -> None:
    """Makes `limiter` that of the app, adds the middleware for headers, and tells OpenAPI of the 429."""
    if limiter is not None:
        app.state.limiter = limiter
    app.add_middleware(RateLimitMiddleware)
    make_schema = app.openapi

    def openapi() -> dict[str, Any]:
        schema = make_schema()
        for route in _routes(app):
            if _is_limited(route.dependant):
                for method in route.methods:
                    operation = schema["paths"].get(route.path_format, {}).get(method.lower(), {})
                    operation.get("responses", {}).setdefault("429", _RESPONSE)
        return schema

    setattr(app, "openapi", openapi)
