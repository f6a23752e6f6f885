"""R21: whatever a client calls itself, two clients never share a key, and the store's protocol stays intact."""

import hashlib

import pytest

from harness import brim

IDS = [b"a:b", b"a", b"b", b"{z}", b"}x", b"{", b"}{", b"{}", b"user{1}", b"*", b"a%3Ab", b"%", b"a b", b'"', b"\\",
       b"\xff", b"\xc3\xbc", b"x" * 128, b"x" * 129, b"x" * 130, b":" * 42, b":" * 43, b"%h" + b"0" * 32]
ONLY_ARGUMENTS = [b"\r\nFLUSHALL\r\n", b"\x01", b"\x7f", b" a", b"y" * 65_536]  # no header can hold them


def part(raw):
    """A subject as it stands in a key."""
    text = "".join(chr(c) if 0x20 <= c < 0x7F and chr(c) not in ":{}%" else f"%{c:02X}" for c in raw)
    return text if len(text) <= 128 else "%h" + hashlib.sha256(raw).hexdigest()[:32]


def test_r21_ids_through_the_header(demo, redis_server, http):
    d = demo(store=redis_server.url)
    redis_server.client.set("witness", "untouched")
    for raw in IDS:
        answer = http.get(f"{d.url}/api/search?q=x", headers={b"X-Client-Id": raw})
        assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (200, "4"), raw
    keys = {k.decode() for k in redis_server.client.keys("ratelimit:*")}
    assert keys == {f"ratelimit:{part(raw)}:search:60" for raw in IDS}
    assert len(keys) == len(IDS)
    assert max(map(len, keys)) <= 256
    assert redis_server.client.get("witness") == b"untouched"


@pytest.mark.parametrize("raw", [b"a\r\nFLUSHALL", b"a\0b", b"a\nb", b"a\rb"])
def test_r21_a_header_cannot_smuggle_a_line(demo, redis_server, raw):
    d = demo(store=redis_server.url)
    redis_server.client.set("witness", "untouched")
    answer = d.raw(b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\nX-Client-Id: " + raw + b"\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400"), answer
    assert redis_server.client.keys() == [b"witness"]


def test_r21_a_header_of_64_kib_is_refused(demo, redis_server, http):
    d = demo(store=redis_server.url)
    assert http.search(d, "y" * 65_536).status_code == 431
    assert redis_server.client.dbsize() == 0


def test_r21_ids_through_the_command_line(redis_server):
    redis_server.client.set("witness", "untouched")
    ids = IDS + ONLY_ARGUMENTS
    for raw in ids:
        done = brim("check", "--limit", "1 per minute", "--store", redis_server.url, "--", raw)
        assert done.returncode == 0, (raw, done)
    keys = {k.decode() for k in redis_server.client.keys("ratelimit:*")}
    assert keys == {f"ratelimit:{part(raw)}:60" for raw in ids}
    assert len(keys) == len(ids)
    assert redis_server.client.get("witness") == b"untouched"


def test_r21_an_empty_id_is_an_error(redis_server):
    done = brim("check", "", "--limit", "1 per minute", "--store", redis_server.url)
    assert done.returncode == 2 and "subject" in done.stderr.lower(), done
    assert redis_server.client.dbsize() == 0
