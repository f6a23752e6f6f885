"""Configuration files through `brim check-config`, through the JSON Schema, and as docs/config.md shows them."""

import hmac
import json
import pathlib
import re
import subprocess

import jsonschema
import pytest
import yaml

import harness

ROOT = pathlib.Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schema/brim.schema.json").read_text())


class Yaml12(yaml.SafeLoader):
    """As YAML 1.2 has it, and brim and editors: `off` is a word, `10:30` too."""

    yaml_implicit_resolvers = {}


for tag, pattern, first in (("bool", r"true|false", "tf"), ("null", r"~|null|", "~n"), ("int", r"[-+]?[0-9]+", "-+0123456789")):
    Yaml12.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first) + [""] * (tag == "null"))


def in_schema(text):
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return validator.is_valid(yaml.load(text, Yaml12))


def brim(*args, **environment):
    return subprocess.run([harness.BINARY, *args], capture_output=True, text=True, timeout=harness.DEADLINE,
                          env=harness.environment(**environment))


@pytest.fixture
def config(tmp_path):
    """Writes a file; its path."""
    def write(text):
        path = tmp_path / "brim.yaml"
        path.write_text(text)
        return path
    return write


ROUTE = "gateway: {routes: [{name: a, path: /a, limits: [1/s], respond: {json: 1}%s}]}"
GOOD = {
    "empty": "",
    "comment": "# nothing\n",
    "listeners": "listen: 127.0.0.1:0\nadmin: {listen: 'unix:/run/brim', token_file: t}\ngateway: {listen: '[::1]:0'}",
    "no headers": "headers: []\ndeny: problem\ndrain_delay: 0ms\nlog: json",
    "store": "store: {url: 'unix:///run/redis?db=1', timeout: 2 s, on_failure: open, max_memory: 1048576, key_prefix: a:b}",
    "proxies": "trusted_proxies: [10.0.0.0/8, '2001:db8::/32', 192.0.2.1, unix]",
    "tiers": "tiers: {free: 5 PER minute; 100/day, pro: [10/second burst 20], x: {limits: [1/h], per_route: true, mode: off}}",
    "items": "tiers: {free: [{limit: 9/s fixed_window, count: all, key: plain}, {limit: 8/h, subject: s, scope: '', cost: 2, mode: shadow}]}",
    "identity": "trusted_proxies: [unix]\nidentity: {subject: [{header: X-A}, {header: X-B, from: trusted_proxies}, peer_address, anonymous],"
                " tier: [{header: X-T, from: trusted_proxies}], ipv6_prefix: 48, proxy_header: Forwarded}",
    "route": ROUTE % ", tiers: true, deny: object, mode: shadow",
    "tiers only": "gateway: {routes: [{name: a, path: /a/, tiers: true, respond: {json: [null, 1.5, {b: c}]}}]}",
}
BAD = {
    "list": "[listen]",
    "unknown": "listn: 127.0.0.1:80",
    "unknown inside": "store: {ulr: memory://}",
    "unknown in a route": ROUTE % ", limit: 5",
    "listen": "listen: nowhere",
    "drain_delay": "drain_delay: 5",
    "log": "log: xml",
    "headers": "headers: [x-limit]",
    "deny": "deny: json",
    "url": "store: {url: 'http://127.0.0.1'}",
    "timeout": "store: {timeout: soon}",
    "on_failure": "store: {on_failure: maybe}",
    "nodes": "store: {nodes: 0}",
    "nodes is no number": "store: {nodes: two}",
    "hash_tag": "store: {hash_tag: yes}",
    "prefix": "store: {key_prefix: 'a b'}",
    "memory": "store: {max_memory: 256 MB}",
    "network": "trusted_proxies: [example.com]",
    "no tiers": "tiers: {}",
    "name of a tier": "tiers: {free: 1/s, 'a b': 1/s}",
    "limit": "tiers: {free: [often]}",
    "limit is a number": "tiers: {free: [5]}",
    "tier without limits": "tiers: {free: {mode: off}}",
    "item without limit": "tiers: {free: [{cost: 1}]}",
    "cost": "tiers: {free: [{limit: 1/s, cost: 0}]}",
    "count": "tiers: {free: [{limit: 1/s, count: denied}]}",
    "mode": "tiers: {free: {limits: [1/s], mode: dark}}",
    "no source": "identity: {subject: []}",
    "source": "identity: {subject: [peer]}",
    "tier header from anybody": "identity: {tier: [{header: X-Tier}]}",
    "forwarded header": "identity: {subject: [{header: X-Forwarded-For}]}",
    "header": "identity: {subject: [{header: 'X Y'}]}",
    "key without table": "identity: {subject: [{api_key: {header: X-Key}}]}",
    "prefix of addresses": "identity: {ipv6_prefix: 129}",
    "proxy header": "identity: {proxy_header: Via}",
    "route without limits": "gateway: {routes: [{name: a, path: /a, respond: {json: 1}}]}",
    "path": "gateway: {routes: [{name: a, path: a, limits: [], respond: {json: 1}}]}",
    "query in a path": "gateway: {routes: [{name: a, path: '/a?b', limits: [], respond: {json: 1}}]}",
    "respond": "gateway: {routes: [{name: a, path: /a, limits: [], respond: {text: 1}}]}",
    "upstream": "gateway: {routes: [{name: a, path: /a, limits: [], upstream: 'http://127.0.0.1'}]}",
}
# What no schema can tell.
BEYOND_SCHEMA = {
    "window": "tiers: {free: [5 per 400 days]}",
    "one key twice": "tiers: {free: [5/s, 6/s]}",
    "default tier": "default_tier: gold",
    "host bits": "trusted_proxies: [10.0.0.1/8]",
    "one address twice": "listen: 127.0.0.1:90\nadmin: {listen: '127.0.0.1:90'}",
    "one name twice": "gateway: {routes: [{name: a, path: /a, limits: [], respond: {json: 1}},"
                      " {name: a, path: /b, limits: [], respond: {json: 1}}]}",
    "place": "gateway: {routes: [{name: a, path: /a, limits: [], respond: {json: '${cookie.a}'}}]}",
    "port": "listen: 127.0.0.1:99999",
    "database": "store: {url: 'redis://127.0.0.1/x'}",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_file_passes_the_program_and_the_schema(config, name):
    result = brim("check-config", config(GOOD[name]))
    assert result.returncode == 0, result.stderr
    assert in_schema(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_passes_neither(config, name):
    result = brim("check-config", config(BAD[name]))
    assert result.returncode == 2
    assert re.search(r"brim\.yaml:\d+:\d+: error: .+\n +\d+ \| .*\n +\| +\^", result.stderr), result.stderr
    assert not in_schema(BAD[name])


@pytest.mark.parametrize("name", BEYOND_SCHEMA)
def test_the_program_sees_more_than_the_schema(config, name):
    assert brim("check-config", config(BEYOND_SCHEMA[name])).returncode == 2
    assert in_schema(BEYOND_SCHEMA[name])


def test_r33_mistakes_are_told_with_place_and_hint(config):
    path = config("store:\n  urll: memory://\ntiers:\n  free: [-1 per minute]\n  free: [1/s]\n")
    result = brim("check-config", path)
    assert result.returncode == 2
    assert f'{path}:2:3: error: there is no setting "urll" (store.urll)' in result.stderr
    assert 'did you mean "url"?' in result.stderr
    assert f"{path}:4:10: error: " in result.stderr
    assert f'{path}:5:3: error: "free" stands here twice' in result.stderr


def test_mistakes_are_told_as_json(config):
    answer = brim("check-config", config("a: 1\nb: 2\n"), "--json")
    assert answer.returncode == 2
    told = json.loads(answer.stdout)
    assert told["ok"] is False
    assert [(issue["line"], issue["column"], issue["field"]) for issue in told["issues"]] == [(1, 1, "a"), (2, 1, "b")]
    good = brim("check-config", config(""), "--json")
    assert good.returncode == 0
    assert json.loads(good.stdout) == {"ok": True, "issues": []}


def test_a_file_that_is_not_there_is_exit_code_2(tmp_path):
    result = brim("check-config", tmp_path / "no.yaml")
    assert result.returncode == 2
    assert "no.yaml: error: cannot be read: No such file or directory" in result.stderr


def test_warnings_name_sections_of_the_docs(config):
    result = brim("check-config", config("listen: 0.0.0.0:80\ntrusted_proxies: [0.0.0.0/0]\nstore: {url: 'redis://:p@h'}\n"
                                         "identity: {subject: [{header: X-A}]}"))
    assert result.returncode == 0
    codes = re.findall(r"warning \[(BRIM-W\d+)\]", result.stderr)
    assert sorted(codes) == ["BRIM-W001", "BRIM-W003", "BRIM-W004", "BRIM-W006"]
    sections = (ROOT / "docs/warnings.md").read_text()
    assert all(f"## {code}\n" in sections for code in codes)


def test_config_show_is_complete_and_keeps_secrets(config):
    path = config("store: {url: 'redis://me:geheim@127.0.0.1:6379/0'}\n")
    result = brim("config", "show", path)
    assert result.returncode == 0
    assert "geheim" not in result.stdout + result.stderr
    shown = yaml.load(result.stdout, Yaml12)
    assert shown["store"]["url"] == "redis://***@127.0.0.1:6379/0"
    assert shown["default_tier"] == "free"
    assert in_schema(result.stdout)
    assert brim("config", "show", BRIM_CONFIG=str(path)).stdout == result.stdout
    defaults = brim("config", "show")
    assert defaults.returncode == 0
    again = brim("config", "show", config(defaults.stdout))
    assert again.stdout == defaults.stdout


KEYED = "identity: {subject: [{api_key: {header: Authorization, table: keys.yaml}}], tier: [{api_key: tier}]}"


def hash_key(table, key, *args):
    with table.open("ab") as out:  # as the shell's >>
        return subprocess.run([harness.BINARY, "hash-key", table, *args], input=key, stdout=out, stderr=subprocess.PIPE,
                              timeout=harness.DEADLINE, env=harness.environment())


def test_a_key_table_is_made_line_by_line_and_holds_no_key(config):
    path = config(KEYED)
    table = path.parent / "keys.yaml"
    assert brim("check-config", path).returncode == 2  # the table is missing
    assert hash_key(table, b"sk-alice-1\n", "--subject", "alice", "--tier", "pro").returncode == 0
    assert hash_key(table, b"sk-bob-1", "--subject", "b: \"o\\b").returncode == 0
    assert brim("check-config", path).returncode == 0
    written = yaml.load(table.read_text(), Yaml12)
    secret = bytes.fromhex(written["secret"])
    assert len(secret) == 32
    assert [(entry["subject"], entry.get("tier")) for entry in written["keys"]] == [("alice", "pro"), ('b: "o\\b', None)]
    assert written["keys"][0]["hash"] == hmac.new(secret, b"sk-alice-1", "sha256").hexdigest()
    assert "sk-" not in table.read_text()

    before = table.read_bytes()
    for key in (b"sk-alice-1\n", b"", b"\n"):
        refused = hash_key(table, key, "--subject", "eve")
        assert refused.returncode == 2
        assert b"sk-alice" not in refused.stderr
    assert table.read_bytes() == before


def test_a_key_table_with_a_mistake_is_refused_without_showing_its_lines(config):
    path = config(KEYED)
    table = path.parent / "keys.yaml"
    table.write_text("secret: 00112233445566778899aabbccddeeff\nkeys:\n  - {subject: a, tier: gold, hash: 0011}\n")
    result = brim("check-config", path)
    assert result.returncode == 2
    assert f'{table}:3:24: error: there is no tier "gold" (keys[0].tier)' in result.stderr
    assert f"{table}:3:36: error: this is no hash" in result.stderr
    assert "0011" not in result.stderr


def documented():
    return re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs/config.md").read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("text", documented())
def test_the_examples_of_the_docs_are_good(config, text):
    path = config(text)
    hash_key(path.parent / "keys.yaml", b"sk-1", "--subject", "alice")
    result = brim("check-config", path)
    assert result.returncode == 0, result.stderr
    assert in_schema(text)


def test_the_docs_show_and_tell_every_setting():
    page = (ROOT / "docs/config.md").read_text()
    examples = "".join(documented())

    def names(schema):
        if isinstance(schema, dict):
            yield from schema.get("properties", {})
        for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []:
            yield from names(part)

    for name in set(names(SCHEMA)):
        assert re.search(rf"\b{name}:", examples), f"no example has {name}"
        assert re.search(rf"`[^`]*\b{name}\b", page), f"{name} is not told"
