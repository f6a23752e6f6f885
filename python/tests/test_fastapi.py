"""Requirements A and B through HTTP: FastAPI on a real uvicorn, a real Redis, httpx and curl as clients."""

import asyncio
import pathlib
import re
import subprocess

import harness
import httpx
import pytest
import websockets.sync.client
from fastapi import Depends, FastAPI, Request
from fastapi.responses import StreamingResponse
from programs import serve

import brim
import brim.fastapi
from brim.fastapi import RateLimit, RateLimitMiddleware, rate_limit

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


# A new one for each test: it remembers refusals for a moment, and another test's user must not feel them.
@pytest.fixture
def app(request, _redis, tmp_path_factory):
    return serve(request, "served_app:app", HERE, tmp_path_factory, BRIM_STORE=_redis.url)


@pytest.fixture
def http(app, redis_server):
    with httpx.Client(base_url=app.url, timeout=harness.DEADLINE) as client:
        yield client


def tier_get(http, user="user_8421", path="/tier/sync", **headers):
    return http.get(path, headers={"X-User": user} | headers)


def test_a1_a_request_with_two_windows_is_one_script(http, redis_server):
    tier_get(http, "warm")
    with harness.Monitor(redis_server) as monitor:
        assert tier_get(http).status_code == 200
    assert len(monitor.named("EVALSHA")) == len(monitor.commands) == 1
    assert sorted(redis_server.client.keys("*8421*")) == [b"ratelimit:user_8421:60", b"ratelimit:user_8421:86400"]


def test_a2_twenty_at_once_are_ten(http, app):
    async def ask():
        async with httpx.AsyncClient(base_url=app.url, timeout=harness.DEADLINE) as client:
            headers = {"X-User": "many", "X-Tier": "pro"}
            for _ in range(50):
                await client.get("/tier/async", headers=headers)
            return await asyncio.gather(*(client.get("/tier/async", headers=headers) for _ in range(20)))

    assert sorted(answer.status_code for answer in asyncio.run(ask())) == [200] * 10 + [429] * 10


@pytest.mark.parametrize("path", ["/tier/sync", "/tier/async"])
def test_a4_the_contract_of_a_429(http, path):
    for left in (4, 3, 2, 1, 0):
        answer = tier_get(http, path=path)
        assert answer.status_code == 200
        assert [answer.headers[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Window")] == [
            "5", str(left), "minute"]
    answer = tier_get(http, path=path)
    assert (answer.status_code, answer.json()) == (429, {"detail": "Rate limit exceeded"})
    assert [answer.headers[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Window")] == ["5", "0", "minute"]
    assert 58 <= int(answer.headers["Retry-After"]) <= 60  # and so a3: honest, in whole seconds
    assert answer.headers["RateLimit-Policy"] == '"minute";q=5;w=60, "day";q=100;w=86400'


def test_a5_a_tier_is_a_budget_on_the_same_keys(http, redis_server):
    for _ in range(5):
        assert tier_get(http).status_code == 200
    assert tier_get(http).status_code == 429
    assert tier_get(http, **{"X-Tier": "unknown"}).status_code == 429
    answer = tier_get(http, **{"X-Tier": "pro"})
    assert (answer.status_code, answer.headers["X-RateLimit-Limit"]) == (200, "60")
    assert tier_get(http, **{"X-Tier": "enterprise"}).headers["X-RateLimit-Remaining"] == "593"
    assert len(redis_server.client.keys()) == 2


def test_a6_the_minute_trips_before_the_day(http, redis_server):
    for _ in range(5):
        tier_get(http)
    with harness.Monitor(redis_server) as monitor:
        assert tier_get(http).headers["X-RateLimit-Window"] == "minute"
    assert monitor.lua and not [line for line in monitor.lua if "86400" in line]


def test_a7_every_key_ends_with_its_window(http, redis_server):
    tier_get(http)
    assert 59 <= redis_server.client.ttl("ratelimit:user_8421:60") <= 61
    assert 86399 <= redis_server.client.ttl("ratelimit:user_8421:86400") <= 86401


def test_a8_the_kill_switch(request, redis_server, tmp_path_factory):
    app = serve(request, "served_app:app", HERE, tmp_path_factory, BRIM_STORE=redis_server.url,
                RATE_LIMIT_DISABLED="true")
    with harness.Monitor(redis_server) as monitor:
        answers = [httpx.get(f"{app.url}/tier/sync", headers={"X-User": "u"}) for _ in range(10)]
    assert {(answer.status_code, answer.headers["X-RateLimit-Remaining"]) for answer in answers} == {(200, "5")}
    assert not monitor.named("EVALSHA") and redis_server.client.dbsize() == 0


def test_users_without_an_id_are_limited_by_address(http, redis_server):
    assert http.get("/tier/sync").status_code == 200
    assert b"ratelimit:address%3A127.0.0.1:60" in redis_server.client.keys()


def test_t9_parameters_share_a_limit_and_routes_do_not(http):
    assert [http.get(f"/items/{i}").status_code for i in range(3)] == [200, 200, 429]
    assert [http.get(f"/other/{i}").status_code for i in range(3)] == [200, 200, 429]


def test_of_two_limits_the_tighter_is_told_once(http):
    answers = [http.get("/two") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answer.headers.get_list("X-RateLimit-Window") for answer in answers] == [["hour"]] * 4


def test_a_stream_streams_and_has_its_headers_once(http):
    with http.stream("GET", "/stream") as answer:
        assert answer.headers.get_list("X-RateLimit-Remaining") == ["1"]
        assert answer.headers.get_list("X-RateLimit-Limit") == ["2"]
        parts = list(answer.iter_raw())
    assert len(parts) == 3 and b"".join(parts) == b"one two three"


def test_background_tasks_run(http):
    assert http.get("/background").json() == []
    harness.eventually(lambda: "done" in http.get("/background").json(), "the task has run")


def test_a_websocket_is_limited_when_it_opens_and_untouched_then(app, redis_server):
    url = app.url.replace("http", "ws") + "/echo"
    with websockets.sync.client.connect(url) as socket:
        for text in ("one", "two", "three"):
            socket.send(text)
            assert socket.recv(harness.DEADLINE) == text
    with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
        websockets.sync.client.connect(url)
    assert refused.value.response.status_code == 403


def test_an_error_of_the_endpoint_tells_the_limit_too(http):
    answer = tier_get(http, path="/tier/missing")
    assert (answer.status_code, answer.headers["X-RateLimit-Remaining"]) == (404, "4")


def test_an_exception_in_a_later_dependency_harms_nothing(http, app):
    fails = httpx.get(f"{app.url}/tier/sync", headers={"X-User": "user_8421", "X-Fail": "1"})  # uvicorn hangs up after it
    assert fails.status_code == 500
    assert tier_get(http).headers["X-RateLimit-Remaining"] == "3"
    assert "a dependency fails" in app.log()


def test_openapi_tells_of_the_429(http):
    paths = http.get("/openapi.json").json()["paths"]
    limited = {path for path, methods in paths.items() if "429" in methods["get"]["responses"]}
    assert limited == set(paths)
    assert "Retry-After" in paths["/two"]["get"]["responses"]["429"]["headers"]


def test_a_store_that_is_gone_is_503_where_the_policy_is_closed(request, tmp_path_factory):
    app = serve(request, "served_app:app", HERE, tmp_path_factory, ON_FAILURE="closed", TIMEOUT_MS="50",
                BRIM_STORE=f"redis://127.0.0.1:{harness.free_port()}/0")
    answer = httpx.get(f"{app.url}/tier/async", headers={"X-User": "u"})
    assert (answer.status_code, answer.json()) == (503, {"detail": "Rate limiter unavailable"})
    assert answer.headers["Retry-After"] == "1"


# Requirement B: the example, as a user starts it.


@pytest.fixture
def search_on_redis(request, redis_server, tmp_path_factory):
    return serve(request, "fastapi_search:app", EXAMPLES, tmp_path_factory, BRIM_STORE=redis_server.url)


def test_b_six_requests_with_curl(search_on_redis, redis_server):
    loop = f"""for i in 1 2 3 4 5 6; do
      curl -s -o /dev/null -w '%{{http_code}} ' -H 'X-Client-Id: me' '{search_on_redis.url}/api/search?q=test'
    done"""
    said = subprocess.run(["bash", "-c", loop], capture_output=True, text=True, timeout=harness.DEADLINE, check=True)
    assert said.stdout == "200 200 200 200 200 429 "
    assert redis_server.client.get("ratelimit:me") == b"6" and 50 <= redis_server.client.ttl("ratelimit:me") <= 60


def test_b_the_contract(search_on_redis, redis_server):
    with httpx.Client(base_url=search_on_redis.url) as client:
        answers = [client.get("/api/search", params={"q": "test"}) for _ in range(6)]
    assert answers[0].json() == {"query": "test", "results": []}
    refused = answers[5]
    wait = int(refused.headers["Retry-After"])
    assert refused.status_code == 429 and 1 <= wait <= 60
    assert refused.json() == {"detail": {"error": "rate limit exceeded", "retry_after": wait}}
    assert redis_server.client.keys() == [b"ratelimit:127.0.0.1"]
    redis_server.client.persist("ratelimit:127.0.0.1")  # as a crash between two commands would leave it
    httpx.get(f"{search_on_redis.url}/api/search?q=test")
    assert 0 < redis_server.client.ttl("ratelimit:127.0.0.1") <= 60


# In one process, without a server.


def ask(app, *paths, **options):
    async def all_of_them():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://app") as client:
            return [await client.get(path, **options) for path in paths]

    return asyncio.run(all_of_them())


def test_a2_after_the_window_ten_more(manual_clock):
    app = FastAPI()
    app.state.limiter = brim.Limiter(clock=manual_clock)
    limit = RateLimit({"free": "10 per minute"})

    @app.get("/", dependencies=[Depends(limit)])
    def endpoint(): ...

    for _ in range(2):
        assert [answer.status_code for answer in ask(app, *["/"] * 20)] == [200] * 10 + [429] * 10
        manual_clock.advance(61)


def test_without_install_and_middleware_the_dependency_tells_all():
    app = FastAPI()
    app.state.limiter = brim.aio.Limiter()

    @app.get("/", dependencies=[Depends(rate_limit)])
    async def endpoint(): ...

    answers = ask(app, *["/"] * 6)
    assert [answer.headers.get_list("X-RateLimit-Remaining") for answer in answers] == [
        ["4"], ["3"], ["2"], ["1"], ["0"], ["0"]]
    assert answers[5].json() == {"detail": "Rate limit exceeded"}


def test_dependency_overrides_work():
    app = FastAPI()
    app.state.limiter = brim.aio.Limiter()
    app.dependency_overrides[rate_limit] = lambda: None

    @app.get("/", dependencies=[Depends(rate_limit)])
    def endpoint(): ...

    assert {answer.status_code for answer in ask(app, *["/"] * 10)} == {200}


def test_an_endpoint_may_look_at_the_decision_and_a_cost_at_the_request():
    app = FastAPI()
    limiter = brim.fastapi.Limiter()
    limit = limiter.limit("10/minute", cost=lambda request: int(request.query_params["n"]), subject=lambda _: "all",
                          scope="here")

    @app.get("/")
    async def endpoint(decision: brim.Decision = Depends(limit)):
        return decision.remaining

    assert [answer.json() for answer in ask(app, "/?n=3", "/?n=6")] == [7, 1]
    assert asyncio.run(limiter.peek("all", "10/minute", "here")).remaining == 1


def test_the_middleware_limits_all_requests():
    app = FastAPI()
    limiter = brim.aio.Limiter()
    app.add_middleware(RateLimitMiddleware, limits="2/minute", limiter=limiter)

    @app.get("/stream")
    def stream(request: Request):
        return StreamingResponse(iter([b"a", b"b"]))

    first, missing, refused = ask(app, "/stream", "/nothing", "/stream")
    assert (first.status_code, first.text, first.headers["X-RateLimit-Remaining"]) == (200, "ab", "1")
    assert (missing.status_code, missing.headers["X-RateLimit-Remaining"]) == (404, "0")
    assert refused.status_code == 429 and refused.headers.get_list("X-RateLimit-Limit") == ["2"]
    body = refused.json()
    assert (body["detail"], body["reason"], body["window"]) == ("Rate limit exceeded", "over_limit", "minute")


def test_middleware_and_dependency_tell_the_tighter():
    app = FastAPI()
    app.state.limiter = brim.aio.Limiter()
    app.add_middleware(RateLimitMiddleware, limits="100/hour")
    app.add_middleware(RateLimitMiddleware, limits="3/hour", scope="outer")

    @app.get("/", dependencies=[Depends(rate_limit)])
    def endpoint(): ...

    [answer] = ask(app, "/")
    assert answer.headers.get_list("X-RateLimit-Limit") == ["3"]
    assert len(re.findall("ratelimit", str(answer.headers).lower())) == 6


def test_the_middleware_refuses_a_websocket_before_it_opens():
    async def never(scope, receive, send):
        raise AssertionError("the app is not asked")

    async def connect(extensions):
        sent = []

        async def send(message):
            sent.append(message)

        limited = RateLimitMiddleware(never, "0/minute", limiter=brim.aio.Limiter())
        await limited({"type": "websocket", "headers": [], "path": "/", "extensions": extensions}, None, send)
        return sent

    assert asyncio.run(connect({})) == [
        {"type": "websocket.close", "code": 1013, "reason": "Rate limit exceeded"}]
    start, body = asyncio.run(connect({"websocket.http.response": {}}))
    assert (start["type"], start["status"], body["type"]) == (
        "websocket.http.response.start", 429, "websocket.http.response.body")


def test_the_limiter_of_another_library_is_named(monkeypatch):
    app = FastAPI()
    app.state.limiter = object()
    with pytest.raises(TypeError, match="limiter of brim"):
        brim.fastapi._limiter_of(Request({"type": "http", "app": app}))
    monkeypatch.setenv("BRIM_STORE", "memory://")
    brim.fastapi._default_limiter.cache_clear()
    assert brim.fastapi._limiter_of(Request({"type": "http", "app": FastAPI()})).sync.embedded
