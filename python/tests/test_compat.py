"""The shims beside what they stand in for, as installed from PyPI: the same script of calls on both."""

import asyncio
import contextlib
import json
import time

import fastapi_limiter
import fastapi_limiter.depends
import flask
import flask_limiter
import flask_limiter.util
import harness
import httpx
import limits
import limits.strategies
import pytest
import redis.asyncio
import slowapi
import slowapi.errors
import slowapi.util
from fastapi import APIRouter, Depends, FastAPI, Request, Response, WebSocket
from limits.storage import storage_from_string
from starlette.testclient import TestClient

import brim
import brim.compat.fastapi_limiter as shim
import brim.compat.limits

# What is shared, the rest, and options: a busy machine is no lost store.
ORIGINAL = (fastapi_limiter.FastAPILimiter, fastapi_limiter.depends, {})
SHIM = (shim.FastAPILimiter, shim, {"store_timeout_ms": 5000})


def limited_app(module, server):
    """An app as the users of fastapi-limiter write it."""
    shared, depends, options = module

    @contextlib.asynccontextmanager
    async def lifespan(app):
        await shared.init(redis.asyncio.Redis(port=server.port), **options)
        yield
        await shared.close()

    app = FastAPI(lifespan=lifespan)

    @app.get("/two", dependencies=[Depends(depends.RateLimiter(times=2, seconds=5))])
    async def two():
        return {"ok": True}

    @app.get("/several", dependencies=[
        Depends(depends.RateLimiter(times=1, milliseconds=300)), Depends(depends.RateLimiter(times=3, minutes=1))])
    async def several():
        return {"ok": True}

    async def told(request: Request, response: Response, pexpire: int):
        response.headers["X-Wait"] = str(pexpire > 0)

    async def one_for_all(request: Request):
        return "all"

    @app.get("/told", dependencies=[Depends(depends.RateLimiter(times=1, hours=1, callback=told, identifier=one_for_all))])
    async def goes_on():
        return {"ok": True}

    @app.websocket("/ws")
    async def ws(socket: WebSocket):
        await socket.accept()
        limit = depends.WebSocketRateLimiter(times=1, minutes=1)
        async for text in socket.iter_text():
            try:
                await limit(socket, context_key=text)
                await socket.send_text("ok")
            except Exception as refused:
                await socket.send_text(f"{refused.status_code} {refused.detail}")

    return app


def play(module, server, script):
    """What the app answers to the calls of the script, on one loop."""
    app = limited_app(module, server)

    async def program():
        transport = httpx.ASGITransport(app)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://app") as client:
            return await script(client)

    server.fresh()
    return asyncio.run(program())


def seen(answer):
    return answer.status_code, answer.json(), answer.headers.get("Retry-After"), answer.headers.get("X-Wait")


async def calls(client):
    forwarded = {"X-Forwarded-For": "10.0.0.1, 10.0.0.2"}
    answers = [seen(await client.get("/two")) for _ in range(4)]
    answers += [seen(await client.get("/two", headers=forwarded)) for _ in range(3)]
    answers += [seen(await client.get("/told")) for _ in range(3)]
    answers += [seen(await client.get("/several")) for _ in range(2)]
    return answers


async def until_admitted(client):
    """Refused calls do not move the window, and count in none of the limits behind."""
    statuses = []
    for _ in range(3):
        while (await client.get("/several")).status_code != 200:
            await asyncio.sleep(0.02)
        statuses.append((await client.get("/several")).status_code)
    await asyncio.sleep(0.32)
    answer = await client.get("/several")
    return statuses, answer.status_code, 58 <= int(answer.headers["Retry-After"]) <= 60


@pytest.mark.parametrize("script", [calls, until_admitted])
def test_fastapi_limiter_016_side_by_side(redis_server, script):
    assert play(SHIM, redis_server, script) == play(ORIGINAL, redis_server, script)


def test_fastapi_limiter_016_websockets_side_by_side(redis_server):
    def talk(module):
        said = []
        redis_server.fresh()
        with TestClient(limited_app(module, redis_server)) as client, client.websocket_connect("/ws") as socket:
            for text in ("a", "a", "b", "a"):
                socket.send_text(text)
                said.append(socket.receive_text())
        return said

    assert talk(SHIM) == talk(ORIGINAL) == ["ok", "429 Too Many Requests", "ok", "429 Too Many Requests"]


def test_t9_times_0_refuses_and_path_parameters_do_not_merge_routes(redis_server):
    app = FastAPI()
    closed, once, again = shim.RateLimiter(times=0, seconds=5), shim.RateLimiter(seconds=5), shim.RateLimiter(seconds=5)

    @app.get("/closed", dependencies=[Depends(closed)])
    async def never(): ...

    async def anyone(request):
        return "anyone"

    for prefix in ("/a", "/b"):
        router = APIRouter(prefix=prefix)

        @router.get("/{item}", dependencies=[Depends(once), Depends(again)])
        async def endpoint(item: str): ...

        app.include_router(router)

    async def program():
        await shim.FastAPILimiter.init(redis_server.url, prefix="mine", identifier=anyone, store_timeout_ms=5000)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
            paths = ("/closed", "/a/1", "/a/2", "/b/1", "/b/2")
            answers = [await client.get(path) for path in paths]
        await shim.FastAPILimiter.close()
        return answers

    answers = asyncio.run(program())
    assert [answer.status_code for answer in answers] == [429, 200, 429, 200, 429]
    assert answers[0].headers["Retry-After"] == "5"
    assert len(redis_server.client.keys("mine:anyone:*")) == 4  # two routes of two limits


def test_fastapi_limiter_without_init_says_what_is_missing():
    with pytest.raises(RuntimeError, match="init"):
        asyncio.run(shim.RateLimiter(seconds=1)(Request({"type": "http", "path": "/"}), Response()))


@pytest.mark.parametrize(
    ("client", "url"),
    [
        (redis.asyncio.Redis(), "redis://localhost:6379/0"),
        (redis.asyncio.Redis(host="h", port=1, db=2, username="u@", password="p:w"), "redis://u%40:p%3Aw@h:1/2"),
        (redis.asyncio.Redis(unix_socket_path="/run/r.sock", db=3), "unix:///run/r.sock?db=3"),
        (redis.asyncio.Redis(password="pw", ssl=True), "rediss://:pw@localhost:6379/0"),
    ],
)
def test_the_server_of_a_redis_client(client, url):
    assert shim._url_of(client) == url


# The storage for `limits`.


@pytest.fixture(params=["brim+memory", "brim+redis", "memory", "redis"])
def storage(request, redis_server):
    """brim's storages, and those of `limits`: each test says of all four the same."""
    uri = f"redis://127.0.0.1:{redis_server.port}/0" if "redis" in request.param else "memory://"
    prefix = "brim+" if request.param.startswith("brim") else ""
    options = {"store_timeout_ms": 5000} if prefix else {}
    return storage_from_string(prefix + uri, **options)


def test_fixed_windows_as_limits_counts_them(storage):
    strategy = limits.strategies.FixedWindowRateLimiter(storage)
    minute, second = limits.parse("3 per minute"), limits.parse("2 per second")
    assert strategy.test(minute, "a")
    assert [strategy.hit(minute, "a") for _ in range(5)] == [True, True, True, False, False]
    assert not strategy.test(minute, "a") and strategy.test(minute, "b", cost=3)
    assert storage.get(minute.key_for("a")) == 5  # refused hits count
    stats = strategy.get_window_stats(minute, "a")
    assert stats.remaining == 0 and stats.reset_time == pytest.approx(time.time() + 60, abs=2)
    assert strategy.hit(minute, "b", cost=2) and not strategy.hit(minute, "b", cost=2)
    strategy.clear(minute, "a")
    assert strategy.get_window_stats(minute, "a").remaining == 3
    assert strategy.hit(second, "a", cost=2)
    harness.eventually(lambda: strategy.hit(second, "a"), "the window passes")


def test_moving_windows_as_limits_counts_them(storage):
    strategy = limits.strategies.MovingWindowRateLimiter(storage)
    minute, second = limits.parse("3 per minute"), limits.parse("2 per second")
    assert strategy.get_window_stats(minute, "a").remaining == 3
    assert [strategy.hit(minute, "a", cost=cost) for cost in (2, 2, 1, 1, 5)] == [True, False, True, False, False]
    assert not strategy.test(minute, "a") and strategy.test(minute, "b", cost=3)
    stats = strategy.get_window_stats(minute, "a")
    assert stats.remaining == 0 and stats.reset_time == pytest.approx(time.time() + 60, abs=2)
    strategy.clear(minute, "a")
    assert strategy.get_window_stats(minute, "a").remaining == 3
    assert strategy.hit(second, "a", cost=2)
    harness.eventually(lambda: strategy.hit(second, "a"), "the window passes")


def test_the_storage_counts_large_costs_and_resets():
    storage = storage_from_string("brim+memory://")
    strategy = limits.strategies.MovingWindowRateLimiter(storage)
    tokens = limits.parse("100000 per hour")
    assert strategy.hit(tokens, "a", cost=90_000) and not strategy.hit(tokens, "a", cost=20_000)
    assert storage.check()
    storage.reset()
    assert strategy.hit(tokens, "a", cost=20_000)
    storage.clear("no key of a limit")
    with pytest.raises(NotImplementedError):
        limits.strategies.SlidingWindowCounterRateLimiter(storage)


def test_a_store_without_an_answer_is_an_error_that_limits_knows():
    uri = f"brim+redis://127.0.0.1:{harness.free_port()}/0"
    minute = limits.parse("3 per minute")
    assert not storage_from_string(uri).check()
    with pytest.raises(brim.StoreError):
        limits.strategies.FixedWindowRateLimiter(storage_from_string(uri)).hit(minute, "a")
    with pytest.raises(limits.errors.StorageError):
        limits.strategies.MovingWindowRateLimiter(storage_from_string(uri, wrap_exceptions=True)).hit(minute, "a")
    with pytest.raises(NotImplementedError):
        storage_from_string(uri).reset()


@pytest.fixture(params=["fixed-window", "moving-window"])
def strategy(request):
    return request.param


def test_slowapi_runs_on_it(redis_server, strategy):
    def answers(uri):
        redis_server.fresh()
        options = {"store_timeout_ms": 5000} if uri.startswith("brim") else {}
        limiter = slowapi.Limiter(key_func=slowapi.util.get_remote_address, storage_uri=uri, strategy=strategy,
                                  storage_options=options, headers_enabled=True)
        app = FastAPI()
        app.state.limiter = limiter
        app.add_exception_handler(slowapi.errors.RateLimitExceeded, slowapi._rate_limit_exceeded_handler)

        @app.get("/")
        @limiter.limit("2/minute;5/hour")
        async def endpoint(request: Request, response: Response):
            return {}

        with TestClient(app) as client:
            got = [client.get("/") for _ in range(3)]
        return [(one.status_code, one.text, one.headers["X-RateLimit-Remaining"]) for one in got]

    on_brim = answers(f"brim+{redis_server.url}")
    assert on_brim == answers(redis_server.url) == answers("brim+memory://")
    assert [status for status, _, _ in on_brim] == [200, 200, 429]


def test_flask_limiter_runs_on_it(redis_server, strategy):
    def answers(uri):
        redis_server.fresh()
        app = flask.Flask("tested")
        options = {"store_timeout_ms": 5000} if uri.startswith("brim") else {}
        limiter = flask_limiter.Limiter(flask_limiter.util.get_remote_address, app=app, storage_uri=uri,
                                        strategy=strategy, storage_options=options, headers_enabled=True)

        @app.get("/")
        @limiter.limit("2/minute")
        def endpoint():
            return json.dumps({})

        client = app.test_client()
        got = [client.get("/") for _ in range(3)]
        return [(one.status_code, one.text, one.headers["X-RateLimit-Remaining"]) for one in got]

    on_brim = answers(f"brim+{redis_server.url}")
    assert on_brim == answers(redis_server.url) == answers("brim+memory://")
    assert [status for status, _, _ in on_brim] == [200, 200, 429]


def test_flask_limiter_falls_back_when_the_store_is_gone():
    app = flask.Flask("tested")
    limiter = flask_limiter.Limiter(
        flask_limiter.util.get_remote_address, app=app, storage_uri=f"brim+redis://127.0.0.1:{harness.free_port()}/0",
        in_memory_fallback=["1/minute"])

    @app.get("/")
    @limiter.limit("2/minute")
    def endpoint():
        return ""

    client = app.test_client()
    assert [client.get("/").status_code for _ in range(2)] == [200, 429]
