"""Operating brim serve: reloads, the kill switch, modes, metrics, alerts, draining. Real servers, real files."""

import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import httpx
import pytest

import harness

ROOT = pathlib.Path(__file__).parents[2]
CONFIG = """
admin: {token_file: %(token)s}
tiers: {free: [%(limit)s]}
"""


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text("operators-only\n")
    return path


@pytest.fixture
def admin(token):
    """An HTTP client for the admin listener: admin("PUT", server, path, json=…)."""
    with httpx.Client(timeout=harness.DEADLINE, headers={"Authorization": "Bearer operators-only"}) as client:
        yield lambda method, server, path, **rest: client.request(method, server.url_of("admin") + path, **rest)


def config(token, limit="10 per hour", more=""):
    return CONFIG % {"token": token, "limit": limit} + more


def check(http, server, subject="user", **rest):
    return http.post(f"{server.url}/v1/check", json={"subject": subject, **rest})


def passed(http, server, count, **rest):
    return sum(check(http, server, **rest).status_code == 200 for _ in range(count))


def put(path, text):
    """Replaces the file as a whole."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text)
    os.replace(fresh, path)


def metrics(admin, server):
    text = admin("GET", server, "/metrics").text
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def reloaded(admin, server, result, count):
    harness.eventually(lambda: metrics(admin, server)[f'brim_config_reloads_total{{result="{result}"}}'] == str(count),
                       f"{count} reloads are {result}")


def test_p11_a_raise_counts_at_once_and_usage_stays(serve, http, admin, token, store):
    server = serve(config(token), store=store)
    assert passed(http, server, 50) == 10
    put(server.config, config(token, "20 per hour"))
    reloaded(admin, server, "taken", 1)
    assert passed(http, server, 50) == 10
    assert check(http, server).json()["limit"] == 20


BROKEN = {
    "syntax": ("tiers: [5 per minute\n", 2),
    "unknown key": ("listen: 127.0.0.1:80\ntierz: {free: [1/s]}\n", 2),
    "the same twice": ("tiers: {free: [1/s]}\ntiers: {free: [1/s]}\n", 2),
    "limit -1": ("tiers:\n  free: [-1 per minute]\n", 2),
    "empty": ("", None),
}


def test_r33_a_broken_file_leaves_the_old_one_in_force(serve, http, admin, token):
    server = serve(config(token, "1000 per hour"))
    for count, (name, (text, line)) in enumerate(BROKEN.items(), 1):
        put(server.config, text)
        server.signal(signal.SIGHUP)  # the watch does it by itself; twice the same is refused twice
        harness.eventually(lambda: int(metrics(admin, server)['brim_config_reloads_total{result="refused"}']) >= count,
                           f"{name} is refused")
        assert metrics(admin, server)["brim_config_last_reload_successful"] == "0"
        assert check(http, server).json()["limit"] == 1000, name
        if line:
            assert harness.brim("check-config", str(server.config)).returncode == 2
            time.sleep(1)  # one line of an event a second is written
    told = [entry for entry in server.log().splitlines() if "reload_failed" in entry]
    assert any('there is no setting \\"tierz\\"' in entry and "line=2" in entry and "did you mean" in entry for entry in told), told
    put(server.config, config(token, "7 per hour"))
    harness.eventually(lambda: check(http, server).json()["limit"] == 7, "the good file is taken")
    assert metrics(admin, server)["brim_config_last_reload_successful"] == "1"


def test_a_swap_of_kubernetes_data_link_reloads(tmp_path, http, admin, token):
    for name, limit in (("..1", "5 per hour"), ("..2", "6 per hour")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "brim.yaml").write_text(config(token, limit))
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "brim.yaml").symlink_to("..data/brim.yaml")
    server = harness.Serve(tmp_path, args=["--config", str(tmp_path / "brim.yaml")])
    try:
        assert check(http, server).json()["limit"] == 5
        (tmp_path / "..data_tmp").symlink_to("..2")
        os.replace(tmp_path / "..data_tmp", tmp_path / "..data")
        harness.eventually(lambda: check(http, server).json()["limit"] == 6, "the swap is seen")
    finally:
        server.stop()


def test_the_key_table_is_reloaded_too(tmp_path, serve, http, token):
    table = tmp_path / "keys.yaml"

    def add(key, subject):
        with table.open("ab") as out:
            subprocess.run([harness.BINARY, "hash-key", table, "--subject", subject, "--tier", "free"], input=key, stdout=out,
                           check=True, timeout=harness.DEADLINE)

    add(b"sk-1", "alice")
    server = serve(config(token, more="identity: {subject: [{api_key: {header: Authorization, table: keys.yaml}}]}\n"))

    def status(key):
        return http.get(f"{server.url}/v1/auth", headers={"Authorization": f"Bearer {key}"}).status_code

    assert (status("sk-1"), status("sk-2")) == (200, 401)
    add(b"sk-2", "bob")
    harness.eventually(lambda: status("sk-2") == 200, "the new key is known")


def test_brim_reload_tells_what_came_of_it(serve, token, tmp_path):
    server = serve(config(token))
    reach = ["--admin", f"127.0.0.1:{server.ports['admin']}", "--token-file", str(token)]
    good = harness.brim("reload", *reach)
    assert (good.returncode, good.stdout) == (0, "reloaded\n")
    put(server.config, config(token) + "store: {nodes: 3}\n")
    assert "store.nodes holds only after a restart" in harness.brim("reload", *reach).stdout
    put(server.config, "tierz: {}\n")
    bad = harness.brim("reload", *reach)
    assert bad.returncode == 2
    assert f'{server.config}:1: there is no setting "tierz"; did you mean "tiers"?' in bad.stderr
    assert "the old configuration holds on" in bad.stderr
    other = tmp_path / "other"
    other.write_text("wrong\n")
    assert "refuses this token" in harness.brim("reload", *reach[:2], "--token-file", str(other)).stderr
    nobody = harness.brim("reload", "--admin", f"127.0.0.1:{harness.free_port()}")
    assert nobody.returncode == 2 and "no brim answers" in nobody.stderr


@pytest.mark.parametrize("path,method", [("/v1/kill-switch", "GET"), ("/v1/kill-switch", "PUT"), ("/v1/modes/free", "GET"),
                                         ("/v1/modes/free", "PUT"), ("/v1/reload", "POST")])
def test_operators_need_the_token(serve, http, token, path, method):
    server = serve(config(token))
    assert http.request(method, server.url_of("admin") + path).status_code == 401
    bare = serve("tiers: {free: [1/s]}\n")
    assert http.request(method, bare.url_of("admin") + path).status_code == 403


def test_the_kill_switch_lets_all_pass_at_once(serve, http, admin, token, store):
    server = serve(config(token, "1 per hour"), store=store)
    assert passed(http, server, 3) == 1
    assert admin("GET", server, "/v1/kill-switch").json() == {"on": False}
    assert admin("PUT", server, "/v1/kill-switch", json={"on": True}).json() == {"on": True}
    answers = [check(http, server).json() for _ in range(3)]
    assert [(a["allowed"], a["reason"], a["remaining"]) for a in answers] == [(True, "kill_switch", 1)] * 3
    assert metrics(admin, server)["brim_kill_switch"] == "1"
    server.signal(signal.SIGHUP)  # a reload does not touch it
    reloaded(admin, server, "taken", 1)
    assert passed(http, server, 3) == 3
    assert admin("PUT", server, "/v1/kill-switch", json={"on": False}).json() == {"on": False}
    assert passed(http, server, 3) == 0
    assert "kill_switch_on" in server.log() and "kill_switch_off" in server.log()
    for body in (b"", b"{}", b'{"on": 1}', b'{"on": true, "on": true}', b'{"on": true, "off": 1}', b"true", b'{"on": true} x'):
        assert admin("PUT", server, "/v1/kill-switch", content=body).status_code == 400, body


def test_r35_kill_switch_and_modes_work_without_the_store_and_end_with_the_process(serve, http, admin, token):
    gone = f"redis://127.0.0.1:{harness.free_port()}"
    text = config(token, "1 per hour", "store: {on_failure: closed}\n")
    server = serve(text, store=gone)
    assert check(http, server).status_code == 503
    admin("PUT", server, "/v1/kill-switch", json={"on": True})
    assert check(http, server).status_code == 200
    assert admin("GET", server, "/readyz").status_code == 200
    admin("PUT", server, "/v1/kill-switch", json={"on": False})
    assert check(http, server).status_code == 503
    assert metrics(admin, server)['brim_store_errors_total{error="unavailable"}'] == "2"
    begin = time.monotonic()
    admin("PUT", server, "/v1/modes/free", json={"mode": "off"})
    assert check(http, server).json()["reason"] == "no_rule"
    assert time.monotonic() - begin < 1
    again = serve(text, store=gone)
    assert check(http, again).status_code == 503
    assert admin("GET", again, "/v1/modes/free").json() == {"mode": "enforce"}


@pytest.mark.parametrize("how", ["file", "told"])
def test_p31_a_shadow_refuses_nobody_and_is_counted(serve, http, admin, token, store, how):
    text = "admin: {token_file: %s}\nstore: {timeout: 1s}\ntiers: {free: {limits: [2 per minute], mode: %s}, other: [4 per minute]}\n"
    server = serve(text % (token, "shadow" if how == "file" else "enforce"), store=store)
    if how == "told":
        assert admin("PUT", server, "/v1/modes/free", json={"mode": "shadow"}).json() == {"mode": "shadow"}
    answers = [check(http, server) for _ in range(5)]
    assert [a.status_code for a in answers] == [200] * 5
    assert [a.json()["limits"][0].get("would_deny", False) for a in answers] == [False] * 2 + [True] * 3
    assert passed(http, server, 6, tier="other", subject="another") == 4
    told = metrics(admin, server)
    assert told["brim_would_deny_total"] == "3"
    assert told['brim_decisions_total{reason="shadow"}'] == "5"
    assert told['brim_mode{policy="free",mode="shadow"}'] == "1"


def test_a_mode_holds_through_reloads_and_covers_routes(serve, http, admin, token):
    text = config(token, more="gateway: {routes: [{name: a, path: /a, limits: [1/h], respond: {json: 1}}]}\n")
    server = serve(text)

    def statuses():
        return [http.get(f"{server.url_of('gateway')}/a").status_code for _ in range(3)]

    assert statuses() == [200, 429, 429]
    assert admin("PUT", server, "/v1/modes/a", json={"mode": "off"}).status_code == 200
    assert statuses() == [200] * 3
    server.signal(signal.SIGHUP)
    reloaded(admin, server, "taken", 1)
    assert statuses() == [200] * 3
    assert admin("PUT", server, "/v1/modes/a", json={"mode": "enforce"}).status_code == 200
    assert statuses() == [429] * 3
    assert admin("GET", server, "/v1/modes/nothing").status_code == 404
    assert admin("PUT", server, "/v1/modes/a", json={"mode": "dark"}).status_code == 400


def test_at_sigterm_readyz_says_so_before_anything_is_closed(tmp_path, http, token):
    server = harness.Serve(tmp_path, config(token, more="drain_delay: 1500ms\n"))
    assert http.get(server.url_of("admin") + "/readyz").status_code == 200
    server.signal(signal.SIGTERM)
    harness.eventually(lambda: http.get(server.url_of("admin") + "/readyz").status_code == 503, "it is not ready", 1)
    assert check(http, server).status_code == 200  # and still answers
    assert http.get(server.url_of("admin") + "/healthz").status_code == 200
    assert server.wait() == 0


def test_the_stores_password_comes_from_a_file(tmp_path, serve, http, token, redis_server):
    secret = tmp_path / "password"
    secret.write_text("geheim\n")
    redis_server.client.config_set("requirepass", "geheim")
    try:
        server = serve(config(token, more=f"store: {{password_file: {secret}, on_failure: closed}}\n"), store=redis_server.url)
        assert check(http, server).status_code == 200
        assert "geheim" not in server.log()
        secret.unlink()
        refused = harness.brim("serve", "--config", str(server.config))
        assert refused.returncode == 2 and "store.password_file: " in refused.stderr
    finally:
        redis_server.client.config_set("requirepass", "")


def test_the_log_can_be_json(tmp_path, token):
    path = tmp_path / "brim.yaml"
    path.write_text(config(token, more="log: json\nlisten: 127.0.0.1:0\n").replace("{token_file", "{listen: '127.0.0.1:0', token_file"))
    with subprocess.Popen([harness.BINARY, "serve", "--config", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=harness.environment()) as process:
        lines = [json.loads(process.stderr.readline()) for _ in range(2)]
        assert [line["event"] for line in lines] == ["api_listening", "admin_listening"]
        assert lines[0]["level"] == "info" and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", lines[0]["time"])
        put(path, "a\x07: \x22\n")
        failed = json.loads(process.stderr.readline())
        assert failed["event"] == "reload_failed"
        process.send_signal(signal.SIGTERM)
        assert process.wait(harness.DEADLINE) == 0


def promtool(*args, text=None):
    return subprocess.run([harness.program("promtool", "prometheus"), *args], input=text, capture_output=True, text=True,
                          timeout=harness.DEADLINE)


def test_metrics_are_clean_and_name_no_client(serve, http, admin, token, redis_server):
    nasty = ["user\r\nforged 1", 'quo"te\\', "\x1b[31mred", "nul\x00", "ünï"]
    server = serve(config(token, "1 per hour", "gateway: {routes: [{name: a, path: /a, limits: [1/h], mode: shadow, respond: {json: 1}}]}\n"),
                   store=redis_server.url)
    for subject in nasty:
        check(http, server, subject=subject)
        check(http, server, subject=subject)
    text = admin("GET", server, "/metrics").text
    result = promtool("check", "metrics", text=text)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    for fragment in ("forged", "quo", "31m", "nul", "ünï", "127.0.0.1"):
        assert fragment not in text
        assert fragment not in re.sub(r"address=\S+", "", server.log())
    assert 'brim_mode{policy="a",mode="shadow"} 1' in text


def test_alert_rules_are_valid_and_each_fires():
    assert promtool("check", "rules", str(ROOT / "ops/alerts.yml")).returncode == 0
    result = promtool("test", "rules", str(ROOT / "tests/ops/alerts_test.yml"))
    assert result.returncode == 0, result.stdout + result.stderr
    # What the rules look at is what brim tells.
    source = (ROOT / "src/door/admin/metrics.cc").read_text()
    for name in set(re.findall(r"brim_[a-z_]+", (ROOT / "ops/alerts.yml").read_text())):
        assert f'"{name}"' in source, name


def test_every_answer_follows_one_whole_file_while_it_flips(serve, token):
    """About 1,000 requests a second while the file is good A, good B or broken: none is lost, none sees a mixture."""
    text = "admin: {token_file: %s}\nstore: {timeout: 1s}\ntiers: {free: [%s], b: [1 per day]}\nheaders: [%s]\n" \
           "gateway: {routes: [{name: a, path: /a, tiers: true, limits: [], respond: {json: %s}}]}\n"
    files = [text % (token, "1000000 per hour", "x-ratelimit", "a"), text % (token, "2000000 per hour", "ietf", "b"), "broken: [\n"]
    wholes = {(b'"a"', "1000000", False), (b'"b"', None, True)}
    server = serve(files[0])
    stop = threading.Event()
    seen, mistakes = set(), []

    def ask():
        with httpx.Client(timeout=harness.DEADLINE) as client:
            while not stop.is_set():
                try:
                    answer = client.get(f"{server.url_of('gateway')}/a")
                    told = (answer.content, answer.headers.get("x-ratelimit-limit"), "ratelimit" in answer.headers)
                    (seen.add(told) if answer.status_code == 200 and told in wholes else mistakes.append((answer.status_code, told)))
                    counts.append(1)
                except httpx.HTTPError as error:
                    mistakes.append(repr(error))

    counts = []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        begin = time.monotonic()
        asking = [pool.submit(ask) for _ in range(4)]
        for turn in range(60):
            put(server.config, files[turn % 3])
            time.sleep(0.05)
        stop.set()
        for one in asking:
            one.result()
        took = time.monotonic() - begin
    assert mistakes == []
    assert seen == wholes
    assert len(counts) / took > (20 if harness.SANITIZED else 300), f"{len(counts) / took:.0f} requests a second"
