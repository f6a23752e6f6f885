"""Requirement B to the letter: `brim demo --algorithm fixed_window`."""

import subprocess

import pytest

from harness import program

KEY = "ratelimit:a"


@pytest.fixture
def start(demo):
    return lambda store="memory://": demo("--algorithm", "fixed_window", store=store)


def redis_cli(server, *command):
    done = subprocess.run([program("redis-cli", "redis-tools"), "-p", str(server.port), *command],
                          check=True, capture_output=True, text=True, timeout=10)
    return done.stdout.strip()


def test_b_six_in_a_loop_with_curl(start, server, curl):
    d = start(server.url)
    codes = [curl("-o", "/dev/null", "-w", "%{http_code}", "-H", "X-Client-Id: a", f"{d.url}/api/search?q=test")
             for _ in range(6)]
    assert codes == ["200"] * 5 + ["429"]
    assert redis_cli(server, "GET", KEY) == "6"
    assert 1 <= int(redis_cli(server, "TTL", KEY)) <= 60


def test_b_the_answers(start, store, http):
    d = start(store)
    for _ in range(5):
        allowed = http.search(d, "a")
        assert (allowed.status_code, allowed.json()) == (200, {"query": "test", "results": []})
    refused = http.search(d, "a")
    assert refused.status_code == 429
    wait = int(refused.headers["retry-after"])
    assert 1 <= wait <= 60
    assert refused.json() == {"detail": {"error": "rate limit exceeded", "retry_after": wait}}
    assert refused.headers["content-type"].startswith("application/json")


def test_b_retry_after_is_the_ttl(start, server, http):
    d = start(server.url)
    http.statuses(d, 5, "a")
    server.client.pexpire(KEY, 17_500)
    assert http.search(d, "a").headers["retry-after"] in ("18", "17")  # 17: a slow machine
    server.client.pexpire(KEY, 900)
    assert http.search(d, "a").headers["retry-after"] == "1"


def test_b_the_ttl_is_set_on_the_first_hit_only(start, server, http):
    d = start(server.url)
    http.search(d, "a")
    assert 55_000 < server.client.pttl(KEY) <= 60_000
    server.client.pexpire(KEY, 20_000)
    http.statuses(d, 6, "a")
    assert server.client.pttl(KEY) <= 20_000
    assert server.client.get(KEY) == b"7"


def test_b_incr_and_expire_are_one_atomic_step(start, server, http):
    d = start(server.url)
    http.search(d, "warm")
    server.client.config_resetstat()
    http.statuses(d, 6, "a")
    assert server.calls("evalsha") == 6


def test_b_the_peer_address_counts_without_a_header_and_with_an_empty_one(start, server, http):
    d = start(server.url)
    assert http.search(d).status_code == 200
    assert http.search(d, "").status_code == 200
    assert server.client.keys() == [b"ratelimit:127.0.0.1"]
    assert server.client.get("ratelimit:127.0.0.1") == b"2"


def test_b_a_repeated_client_id_is_refused(start, server):
    d = start(server.url)
    answer = d.raw(b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\nX-Client-Id: a\r\nX-Client-Id: b\r\n"
                   b"Connection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400")
    assert server.client.dbsize() == 0


@pytest.mark.parametrize("algorithm", ["fixed_window", "sliding_window"])
def test_b_only_a_valid_request_of_the_route_is_charged(demo, server, http, algorithm):
    d = demo("--algorithm", algorithm, store=server.url)
    me = {"X-Client-Id": "a"}
    assert http.get(f"{d.url}/api/search", headers=me).status_code == 422
    assert http.post(f"{d.url}/api/search?q=x", headers=me).status_code == 405
    assert http.post(f"{d.url}/api/search?q=x", headers=me, json={"q": 1}).status_code == 405
    for path in ("/", "/api", "/api/search/", "/api/searching", "/v1/check", "/metrics", "/healthz", "/API/search"):
        assert http.get(f"{d.url}{path}?q=x", headers=me).status_code == 404, path
    assert server.client.dbsize() == 0
    assert http.statuses(d, 6, "a") == [200] * 5 + [429]


def test_b_405_names_what_is_allowed(start, http):
    d = start()
    assert "GET" in http.delete(f"{d.url}/api/search?q=x").headers["allow"]


def test_b_the_query_comes_back_decoded(start, http):
    d = start()
    for text in ("a b", 'quote " back \\ slash', "ünïcode ✓", "a&b=c", "%"):
        http.headers["X-Client-Id"] = text.encode().hex()
        assert http.get(f"{d.url}/api/search", params={"q": text}).json() == {"query": text, "results": []}


def test_p17_a_counter_without_ttl_is_healed(start, server, http):
    d = start(server.url)
    server.client.set(KEY, 100)
    assert server.client.ttl(KEY) == -1
    refused = http.search(d, "a")
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert 1 <= server.client.ttl(KEY) <= 60, "the client passes again within a window"


def test_p17_a_log_without_ttl_is_healed(demo, server, http):
    d = demo(store=server.url)
    http.statuses(d, 5, "a")
    server.client.persist("ratelimit:a:search:60")
    assert http.search(d, "a").status_code == 429
    assert 1 <= server.client.ttl("ratelimit:a:search:60") <= 61
