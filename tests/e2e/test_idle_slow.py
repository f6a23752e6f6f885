"""What happens to those that do nothing: keys and connections."""

import time

from harness import eventually, read_all


def test_a7_an_idle_key_is_gone_within_window_and_a_second(demo, redis_server, valkey_server, http):
    servers = [redis_server, valkey_server]
    demos = [demo(store=s.url) for s in servers]
    for s, d in zip(servers, demos):
        http.search(d, "a")
        assert 60 <= s.client.ttl("ratelimit:a:search:60") <= 61
    for s in servers:
        eventually(lambda: not s.client.exists("ratelimit:a:search:60"), "the key is gone", deadline=61.5)


def test_a_request_that_never_ends_is_timed_out(demo):
    d = demo()
    with d.connect(timeout=20) as s:
        begin = time.monotonic()
        s.sendall(b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\n")
        answer = read_all(s)
        assert answer.startswith(b"HTTP/1.1 408"), answer
        assert 9 < time.monotonic() - begin < 15


def test_dripping_bytes_do_not_extend_the_time(demo):
    d = demo()
    with d.connect(timeout=1) as s:
        begin = time.monotonic()
        s.sendall(b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\nX: ")
        while time.monotonic() - begin < 20:
            try:
                s.sendall(b"a")
                s.recv(1000)
                break
            except TimeoutError:
                continue  # no answer yet
            except OSError:
                break  # the connection has ended
        assert 9 < time.monotonic() - begin < 15
