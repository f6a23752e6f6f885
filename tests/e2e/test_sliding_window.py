"""Requirement A through `brim demo`: 5 a minute and client, an exact sliding window."""

import re
import socket

import pytest

from harness import Monitor, read_all, together

KEY = "ratelimit:a:search:60"


def integer(text):
    assert re.fullmatch(r"\d+", text), text
    return int(text)


def warm(demo, http, client="warm"):
    """One request, after which the store is connected and has its script."""
    assert http.search(demo, client).status_code == 200


def test_a1_one_check_is_one_script_execution(demo, server, http):
    d = demo(store=server.url)
    warm(d, http)
    server.client.config_resetstat()
    with Monitor(server) as seen:
        statuses = http.statuses(d, 7, "a")
    assert statuses == [200] * 5 + [429] * 2
    # The seventh repeats a refusal that cannot have changed: it is not asked.
    assert server.calls("evalsha") == 6
    assert server.calls("eval") == server.calls("fcall") == 0
    assert [c for c in seen.named("evalsha") if KEY not in c] == []
    assert len(seen.named("evalsha")) == 6
    others = [c for c in seen.commands if not re.match('"(evalsha|ping|config|info|echo)"', c.lower())]
    assert others == [], "all of a check is in the script"
    assert any("zadd" in c.lower() for c in seen.lua)


def test_a2_twenty_at_once_admit_exactly_the_limit(demo, store, http):
    d = demo(store=store)
    warm(d, http)

    def ask(_, go):
        with d.connect() as s:
            go()
            s.sendall(b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\nX-Client-Id: a\r\nConnection: close\r\n\r\n")
            return read_all(s)[9:12]

    statuses = together(20, ask)
    assert sorted(statuses) == [b"200"] * 5 + [b"429"] * 15


def test_a3_retry_after_is_the_wait_for_the_oldest_entry(demo, server, http):
    d = demo(store=server.url)
    http.statuses(d, 5, "a")
    refused = http.search(d, "a")
    # The server's own clock and the oldest score tell what the answer must be, but for the time of the asking.
    (_, oldest), = server.client.zrange(KEY, 0, 0, withscores=True)
    seconds, micros = server.client.time()
    left_ms = oldest + 60_000 - (seconds * 1000 + micros // 1000)
    assert left_ms <= integer(refused.headers["retry-after-ms"]) <= left_ms + 5_000
    told = integer(refused.headers["retry-after"])
    assert told == -(-integer(refused.headers["retry-after-ms"]) // 1000)
    assert 1 <= told <= 60


def test_a4_the_429_contract(demo, store, http):
    d = demo(store=store)
    for left in (4, 3, 2, 1, 0):
        allowed = http.search(d, "a")
        assert allowed.status_code == 200
        assert allowed.json() == {"query": "test", "results": []}
        assert allowed.headers["x-ratelimit-limit"] == "5"
        assert allowed.headers["x-ratelimit-remaining"] == str(left)
        assert allowed.headers["x-ratelimit-window"] == "minute"
        assert 1 <= integer(allowed.headers["x-ratelimit-reset"]) <= 60
        assert allowed.headers["ratelimit-policy"] == '"minute";q=5;w=60'
        assert allowed.headers["ratelimit"] == f'"minute";r={left}'
        assert "retry-after" not in allowed.headers and "retry-after-ms" not in allowed.headers
    refused = http.search(d, "a")
    assert refused.status_code == 429
    assert refused.headers["content-type"].startswith("application/json")
    assert refused.json()["detail"] == "Rate limit exceeded"
    wait = integer(refused.headers["retry-after"])
    assert 1 <= wait <= 60
    assert 1 <= integer(refused.headers["retry-after-ms"]) <= 60_000
    assert refused.headers["x-ratelimit-limit"] == "5"
    assert refused.headers["x-ratelimit-remaining"] == "0"
    assert refused.headers["x-ratelimit-window"] == "minute"
    assert refused.headers["ratelimit-policy"] == '"minute";q=5;w=60'
    assert refused.headers["ratelimit"] == f'"minute";r=0;t={wait}'
    assert "x-should-retry" not in refused.headers
    assert http.search(d, "b").status_code == 200, "another client is not affected"


def test_a_entries_are_unique_members_scored_in_milliseconds(demo, server, http):
    d = demo(store=server.url)
    http.statuses(d, 5, "a")
    entries = server.client.zrange(KEY, 0, -1, withscores=True)
    now_ms = server.client.time()[0] * 1000
    assert len({member for member, _ in entries}) == 5
    assert all(score == int(score) and abs(score - now_ms) < 60_000 for _, score in entries)


def test_a_a_refusal_adds_no_entry_and_moves_no_ttl(demo, server, http):
    d = demo(store=server.url)
    http.statuses(d, 5, "a")
    server.client.pexpire(KEY, 30_000)
    assert http.search(d, "a").status_code == 429
    assert server.client.zcard(KEY) == 5
    assert server.client.pttl(KEY) <= 30_000


def test_a7_an_idle_key_expires_within_window_and_a_second(demo, server, http):
    d = demo(store=server.url)
    http.search(d, "a")
    assert 60_000 - 5_000 < server.client.pttl(KEY) <= 61_000


@pytest.mark.parametrize("algorithm", ["sliding_window", "fixed_window"])
def test_a8_the_kill_switch_admits_all_and_writes_nothing(demo, server, http, algorithm):
    d = demo("--algorithm", algorithm, store=server.url, env={"RATE_LIMIT_DISABLED": "true"})
    with Monitor(server) as seen:
        answers = [http.search(d, "a") for _ in range(12)]
    assert [a.status_code for a in answers] == [200] * 12
    assert {a.headers["x-ratelimit-remaining"] for a in answers} == {"5"}
    assert seen.named("evalsha") == [] and seen.lua == []
    assert server.client.dbsize() == 0
    assert "RATE_LIMIT_DISABLED" in d.log() or "kill" in d.log().lower(), "nobody leaves it on unnoticed"


def test_p13_a_lost_script_is_loaded_again_and_each_check_counts_once(demo, server, http):
    d = demo(store=server.url)
    for left in (4, 3, 2, 1, 0):
        server.client.script_flush()
        answer = http.search(d, "a")
        assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (200, str(left))
    assert server.client.zcard(KEY) == 5
    assert http.search(d, "a").status_code == 429


def test_p13_a_script_lost_under_many_at_once_counts_each_once(demo, server, http):
    d = demo(store=server.url)
    warm(d, http)
    server.client.script_flush()

    def ask(i, go):
        with d.connect() as s:
            go()
            s.sendall(b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\nX-Client-Id: c%d\r\nConnection: close\r\n\r\n" % i)
            return read_all(s)[9:12]

    assert together(20, ask) == [b"200"] * 20
    assert [server.client.zcard(f"ratelimit:c{i}:search:60") for i in range(20)] == [1] * 20


def test_the_unix_socket_of_a_server_is_a_store_too(demo, server, http):
    d = demo(store=server.unix_url)
    assert http.statuses(d, 6, "a") == [200] * 5 + [429]
    assert server.client.zcard(KEY) == 5


def test_without_a_client_id_the_peer_address_counts(demo, server, http):
    d = demo(store=server.url)
    assert http.statuses(d, 6) == [200] * 5 + [429]
    assert server.client.keys() == [b"ratelimit:127.0.0.1:search:60"]


def test_a_client_that_leaves_early_harms_nobody(demo, store, http):
    d = demo(store=store)
    for _ in range(20):
        s = d.connect()
        s.sendall(b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\nX-Client-Id: gone\r\n\r\n")
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # closes with a reset
        s.close()
    assert http.statuses(d, 6, "a") == [200] * 5 + [429]
