"""The decision API of `brim serve` as services and gateways ask it, with real clients and on every store."""

import json
import re

import http_sfv
import pytest

from harness import brim, read_all, together

CONFIG = """
identity: {subject: [{header: X-Client-Id}]}
store: {timeout: 5s}
tiers:
  free: [5 per minute, 100 per day]
  pro: [60 per minute, 5000 per day]
default_tier: free
gateway:
  routes:
    - {name: search, path: /api/search, limits: [5 per minute], respond: {json: {query: "${query.q}", results: []}}}
    - {name: chat, path: /chat, tiers: true, deny: problem, respond: {json: {}}}
"""
FIVE = {"subject": "a", "limits": ["5 per minute", "100 per day"]}


def the_429_contract(reply):
    assert reply.status_code == 429
    assert reply.headers["content-type"] == "application/json"
    assert reply.json()["detail"] == "Rate limit exceeded"
    assert re.fullmatch("[1-9][0-9]*", reply.headers["Retry-After"])
    assert 1 <= int(reply.headers["Retry-After"]) <= 60
    assert reply.headers["X-RateLimit-Limit"] == "5"
    assert reply.headers["X-RateLimit-Remaining"] == "0"
    assert reply.headers["X-RateLimit-Window"] == "minute"
    assert reply.headers["X-RateLimit-Reset"] == reply.headers["Retry-After"]


def the_success_contract(reply, left):
    assert reply.status_code == 200
    assert reply.headers["X-RateLimit-Limit"] == "5"
    assert reply.headers["X-RateLimit-Remaining"] == str(left)
    assert reply.headers["X-RateLimit-Window"] == "minute"


def ways(s, http):
    """One request by each door, of a client that is nobody else's."""
    me = {"X-Client-Id": "a"}
    return {"check": lambda: http.check(s, FIVE),
            "auth": lambda: http.get(f"{s.url}/v1/auth/any/path", headers={"X-Client-Id": "b"}),
            "gateway": lambda: http.get(f"{s.url_of('gateway')}/api/search", params={"q": "x"}, headers=me)}


@pytest.mark.parametrize("door", ["check", "auth", "gateway"])
def test_a4_the_429_contract_through_every_door(serve, store, http, door):
    ask = ways(serve(CONFIG, store=store), http)[door]
    for left in (4, 3, 2, 1, 0):
        the_success_contract(ask(), left)
    the_429_contract(ask())


def test_a5_a_tier_changes_only_the_budget(serve, store, http):
    s = serve(CONFIG, store=store)
    for left in (4, 3, 2, 1, 0):
        the_success_contract(http.check(s, {"subject": "u", "tier": "free"}), left)
    pro = http.check(s, {"subject": "u", "tier": "pro"})
    assert pro.headers["X-RateLimit-Limit"] == "60"
    assert pro.headers["X-RateLimit-Remaining"] == "54", "the same keys: what was used as free counts"
    assert http.check(s, {"subject": "u", "tier": "no such tier"}).status_code == 429
    assert http.get(f"{s.url}/v1/auth", headers={"X-Client-Id": "u"}).status_code == 429


def test_a_batch_keeps_its_order_on_redis(serve, server, http):
    s = serve(CONFIG, store=server.url)
    http.check(s, FIVE)
    server.client.config_resetstat()
    batch = [{"subject": f"u{i % 3}", "limits": ["20 per hour"]} for i in range(99)] + [{"subject": ""}]
    reply = http.check(s, batch)
    assert reply.status_code == 200
    items = reply.json()
    assert [i["status"] for i in items] == [200] * 60 + [429] * 39 + [400]
    assert [i["remaining"] for i in items[:60]] == [19 - i // 3 for i in range(60)]
    assert items[99]["field"] == "subject"
    # Equal checks of a batch share a call, one for each subject and each part that the batch is asked in.
    assert 3 <= server.calls("evalsha") <= 6


def test_a2_twenty_batches_at_once_admit_exactly_the_limit(serve, store, http):
    s = serve(CONFIG, store=store)
    body = json.dumps([{"subject": "a", "limits": ["30 per hour"]}] * 5).encode()
    request = (b"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
               b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def ask(_, go):
        with s.connect() as c:
            go()
            c.sendall(request)
            return json.loads(read_all(c).partition(b"\r\n\r\n")[2])

    items = [i for answer in together(20, ask) for i in answer]
    assert sorted(i["status"] for i in items) == [200] * 30 + [429] * 70


def test_charge_refund_and_peek(serve, store, http):
    s = serve(CONFIG, store=store)
    body = {"subject": "a", "cost": 4, "limits": ["10 per hour token_bucket"]}
    assert http.check(s, body, "/v1/charge").json()["remaining"] == 6
    assert http.check(s, body, "/v1/charge").json()["remaining"] == 2
    assert http.check(s, body, "/v1/charge").status_code == 200, "past the limit"
    assert http.check(s, body).status_code == 429
    for _ in range(2):
        http.check(s, body, "/v1/refund")
    peek = http.check(s, body | {"cost": 0})
    assert peek.status_code == 200 and peek.json()["allowed"] and peek.json()["remaining"] == 6


def test_a_shared_cap_beside_the_users_own_limits(serve, store, http):
    s = serve(CONFIG, store=store)

    def ask(user):
        return http.check(s, {"subject": user, "limits": [
            "9 per hour", {"limit": "5 per hour fixed_window", "subject": "site", "cost": 2}]}).status_code

    assert [ask(user) for user in "abc"] == [200, 200, 429]
    assert http.check(s, {"subject": "c", "cost": 0, "limits": ["9 per hour"]}).json()["remaining"] == 9


def test_nginx_gets_its_403_and_http_1_0_its_end(serve, http):
    s = serve(CONFIG)
    head = b"GET /v1/auth?deny_status=403 HTTP/1.0\r\nX-Client-Id: n\r\n\r\n"
    answers = [s.raw(head) for _ in range(6)]
    assert all(a.startswith(b"HTTP/1.1 200 OK\r\n") and a.endswith(b"\r\n\r\n") for a in answers[:5]), answers
    assert b"content-length: 0\r\n" in answers[0].lower()
    assert answers[5].startswith(b"HTTP/1.1 403")
    assert b"Retry-After: " in answers[5]


def test_keep_alive_connections_are_kept(serve):
    s = serve(CONFIG)
    request = b"GET /v1/auth HTTP/1.1\r\nHost: x\r\nX-Client-Id: k\r\n\r\n"
    with s.connect() as c:
        for _ in range(3):
            c.sendall(request)
            assert c.recv(65536).startswith(b"HTTP/1.1 200")


def test_a_route_refuses_as_it_was_told_to(serve, http):
    s = serve(CONFIG)
    url = f"{s.url_of('gateway')}/chat"
    replies = [http.get(url, headers={"X-Client-Id": "p"}) for _ in range(6)]
    assert [r.status_code for r in replies] == [200] * 5 + [429]
    assert replies[5].headers["content-type"] == "application/problem+json"
    assert replies[5].json()["violated-policies"] == ["minute"]
    assert http.get(f"{s.url_of('gateway')}/v1/check").status_code == 404, "the gateway serves its routes and nothing else"


@pytest.mark.parametrize("families, present", [
    ("[x-ratelimit]", {"x-ratelimit-limit"}), ("[ietf]", {"ratelimit"}), ("[]", set()),
    ("[x-ratelimit, ietf]", {"x-ratelimit-limit", "ratelimit"})])
def test_header_families_can_be_chosen(serve, http, families, present):
    reply = http.check(serve(f"headers: {families}\n"), {"subject": "a"})
    assert {"x-ratelimit-limit", "ratelimit"} & set(reply.headers) == present


def test_the_ietf_pair_is_made_of_structured_fields(serve, http):
    s = serve(CONFIG)
    body = {"subject": "a", "limits": ["2 per minute", "9 per minute token_bucket", "100 per 90 s", "5 per 700 ms"]}
    for reply in [http.check(s, body) for _ in range(3)]:
        policy, state = http_sfv.List(), http_sfv.List()
        policy.parse(reply.headers["RateLimit-Policy"].encode())
        state.parse(reply.headers["RateLimit"].encode())
        told = [(i.value, dict(i.params)) for i in policy]
        assert told == [("700ms", {"q": 5, "w": 1}), ("minute", {"q": 2, "w": 60}), ("minute-2", {"q": 9, "w": 60}),
                        ("90s", {"q": 100, "w": 90})]
        assert [i.value for i in state] == [name for name, _ in told][:len(state)]
        assert all(set(i.params) <= {"r", "t"} and i.params["r"] >= 0 for i in state)
    assert "t" in state[1].params, "the minute refused"


def test_the_kill_switch_asks_no_store(serve, server, http):
    s = serve(CONFIG, store=server.url, env={"RATE_LIMIT_DISABLED": "true"})
    server.client.config_resetstat()
    for reply in [http.check(s, FIVE) for _ in range(7)]:
        assert reply.status_code == 200
        assert (reply.json()["reason"], reply.json()["remaining"]) == ("kill_switch", 5)
    assert [i["remaining"] for i in http.check(s, [FIVE] * 3).json()] == [5, 5, 5]
    assert server.calls("evalsha") == 0


SUBJECTS = ["a\r\nX-Evil: 1", "\"quoted\"", "\x1b[31mred\x1b[0m", "nul\x00byte", "{tag}:60", "%h", "é\u2028😀", "x" * 65536]


@pytest.mark.parametrize("subject", SUBJECTS, ids=range(len(SUBJECTS)))
def test_any_subject_is_a_subject_of_its_own(serve, store, http, subject):
    s = serve(CONFIG, store=store)
    assert [http.check(s, {"subject": subject, "limits": ["2 per hour"]}).status_code for _ in range(3)] == [200, 200, 429]
    reply = http.check(s, {"subject": subject + "'", "limits": ["2 per hour"]})
    assert reply.status_code == 200
    assert "x-evil" not in reply.headers
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", s.log())


def test_mistakes_are_typed(serve, http):
    s = serve(CONFIG)
    for body, field in ((b"{", "body"), (b"[" * 100_000, "body"), (b'{"subject": "\xff"}', "body"), (b'{"subject": 1}', "subject"),
                        (b'{"subject": "a", "cost": 9223372036854775808}', "cost"), (b'{"subject": "a", "x": 1}', "x"),
                        (b'{"subject": "a", "limits": ["5/m", {"limit": "6/h", "cost": 0}]}', "limits[1].cost")):
        reply = http.post(f"{s.url}/v1/check", content=body, headers={"Content-Type": "application/json"})
        assert (reply.status_code, reply.json()["field"]) == (400, field), reply.text
        assert reply.json()["error"]
    assert http.get(f"{s.url}/v1/check").status_code == 405
    assert http.get(f"{s.url}/v2/check").status_code == 404
    assert http.post(f"{s.url}/v1/check", content=b"{}", headers={"Content-Type": "text/xml"}).status_code == 415
    assert http.check(s, [{"subject": "a"}] * 1001).status_code == 413
    assert http.check(s, {"subject": "a" * (1 << 20)}).status_code == 413


def test_r29_oversized_requests_are_refused_before_they_are_read(serve):
    s = serve(CONFIG)
    head = b"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    for request, status in ((b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"414"),
                            (head + b"X: " + b"a" * (1 << 20) + b"\r\n\r\n", b"431"),
                            (head + b"X: y\r\n" * 10_000 + b"\r\n", b"431"),
                            (head + b"Content-Length: 1073741824\r\n\r\n", b"413")):
        for port in s.ports.values():
            assert s.raw(request, port)[9:12] == status


def test_r31_no_request_chooses_where_it_goes(serve):
    s = serve(CONFIG)
    gateway = s.ports["gateway"]
    for target, host, status in ((b"http://169.254.169.254/latest", b"x", b"400"), (b"//evil/api/search?q=x", b"x", b"404"),
                                 (b"/api/search?q=x", b"169.254.169.254", b"200"), (b"*", b"x", b"400")):
        answer = s.raw(b"GET %s HTTP/1.1\r\nHost: %s\r\nX-Client-Id: c\r\nConnection: close\r\n\r\n" % (target, host), gateway)
        assert answer[9:12] == status, answer
        assert b"evil" not in answer and b"169.254" not in answer


def test_tokens_of_both_listeners(serve, http, tmp_path):
    for name in ("api", "admin"):
        (tmp_path / name).write_text(f"{name}-token\n")
    s = serve(f"api_token_file: {tmp_path}/api\nadmin: {{token_file: {tmp_path}/admin}}\n")
    asked = {"subject": "a"}
    assert http.check(s, asked).status_code == 401
    with_token = {"Authorization": "Bearer api-token"}
    assert http.post(f"{s.url}/v1/check", json=asked, headers=with_token).status_code == 200
    limits = f"{s.url_of('admin')}/v1/limits/a"
    assert http.get(limits).status_code == 401
    assert http.get(limits, headers=with_token).status_code == 401
    admin = {"Authorization": "Bearer admin-token"}
    assert http.get(limits, headers=admin).json()["remaining"] == 4
    assert http.delete(limits, headers=admin).json() == {"removed": 2}
    assert http.get(limits, headers=admin).json()["remaining"] == 5
    assert http.get(f"{s.url_of('admin')}/readyz?verbose").text.startswith("ready\nstore: ok\n")


def test_admin_looks_and_forgets_on_every_store(serve, store, http, tmp_path):
    (tmp_path / "token").write_text("t\n")
    s = serve(f"admin: {{token_file: {tmp_path}/token}}\n", store=store)
    http.check(s, {"subject": "a b", "scope": "chat", "limits": ["5/minute", "9/day"]})
    ask = {"params": {"limits": "5/minute; 9/day", "scope": "chat"}, "headers": {"Authorization": "Bearer t"}}
    url = f"{s.url_of('admin')}/v1/limits/a%20b"
    assert http.get(url, **ask).json()["remaining"] == 4
    assert http.delete(url, **ask).json() == {"removed": 2}
    assert http.delete(url, **ask).json() == {"removed": 0}


def test_serve_refuses_what_it_cannot_serve(tmp_path):
    (tmp_path / "bad.yaml").write_text("limts: 5\n")
    for args, said in ((["--config", str(tmp_path / "bad.yaml")], "bad.yaml:1:1"), (["--config", str(tmp_path / "none")], "none"),
                       (["--listen", "nonsense"], "listen"), (["--store", "ftp://x"], "store")):
        done = brim("serve", *args)
        assert done.returncode == 2 and said in done.stderr, done
