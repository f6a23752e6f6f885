"""Bad and unusual HTTP/1.1 over a raw socket: each gets its typed error, and the process lives."""

import pytest

from harness import Demo, read_all

HEAD = b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def d(tmp_path_factory):
    one = Demo(tmp_path_factory.mktemp("http"))
    yield one
    one.stop()


@pytest.fixture(autouse=True)
def lives(d):
    yield
    assert d.answers(), d.log()


def statuses(answers):
    """The status of each response in a stream of them."""
    found = []
    while answers:
        head, _, rest = answers.partition(b"\r\n\r\n")
        found.append(int(head[9:12]))
        length = next((int(l[15:]) for l in head.lower().split(b"\r\n") if l.startswith(b"content-length:")), 0)
        answers = rest[length:]
    return found


@pytest.mark.parametrize("request_bytes", [
    b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1 x\r\nHost: x\r\n\r\n", b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"G\xffT / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / http/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n", HEAD + b"Host: y\r\n\r\n", HEAD + b"X : y\r\n\r\n", HEAD + b"X: a\r\n b\r\n\r\n",
    HEAD + b"X: a\nY: b\r\n\r\n", HEAD + b"X: a\rb\r\n\r\n", HEAD + b"X: a\0b\r\n\r\n", HEAD + b": y\r\n\r\n",
    HEAD + b"no colon\r\n\r\n", b"GET / HTTP/1.1\nHost: x\n\n",
    HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", HEAD + b"Content-Length: -1\r\n\r\n",
    HEAD + b"Content-Length: +1\r\n\r\na", HEAD + b"Content-Length: 0x1\r\n\r\na",
    HEAD + b"Content-Length: 99999999999999999999\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n"])
def test_malformed_requests_are_refused_and_the_connection_ends(d, request_bytes):
    answer = d.raw(request_bytes)
    assert answer.startswith(b"HTTP/1.1 400") or answer.startswith(b"HTTP/1.1 413"), answer
    assert len(statuses(answer)) == 1


def test_unknown_transfer_codings_and_versions_are_refused(d):
    assert statuses(d.raw(HEAD + b"Transfer-Encoding: gzip\r\n\r\n"))[0] in (400, 501)
    assert statuses(d.raw(b"GET / HTTP/2.0\r\nHost: x\r\n\r\n"))[0] in (400, 505)


def test_oversized_requests_are_refused(d):
    assert statuses(d.raw(b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")) == [414]
    assert statuses(d.raw(HEAD + b"X: " + b"a" * 40_000 + b"\r\n\r\n")) == [431]
    assert statuses(d.raw(HEAD + b"X: y\r\n" * 101 + b"\r\n")) == [431]
    assert statuses(d.raw(HEAD + b"Content-Length: 1048577\r\n\r\n")) == [413]
    assert statuses(d.raw(b"a" * 100_000))[0] in (400, 414, 431)


def test_pipelined_requests_are_answered_in_order(d):
    one = b"GET /api/search?q=%d HTTP/1.1\r\nHost: x\r\nX-Client-Id: pipeline\r\n%s\r\n"
    answer = d.raw(b"".join(one % (i, b"Connection: close\r\n" if i == 6 else b"") for i in range(7)))
    assert statuses(answer) == [200] * 5 + [429] * 2
    places = [answer.index(b'"query": "%d"' % i) if b'"query": "%d"' % i in answer else
              answer.index(b'"query":"%d"' % i) for i in range(5)]
    assert places == sorted(places)


def test_a_request_may_come_byte_by_byte(d):
    with d.connect() as s:
        for byte in HEAD + b"X-Client-Id: bytes\r\nConnection: close\r\n\r\n":
            s.sendall(bytes([byte]))
        assert statuses(read_all(s)) == [200]


def test_what_follows_a_refused_body_is_no_request(d):
    inner = b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\n\r\n"
    post = b"POST /api/search?q=x HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(inner), inner)
    last = b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert statuses(d.raw(post + last)) == [405, 404]


def test_half_a_request_holds_up_nobody(d, http):
    halves = [d.connect() for _ in range(50)]
    for s in halves:
        s.sendall(HEAD)
    assert http.search(d, "patient").status_code == 200
    for s in halves:
        s.close()


def test_http_1_0_gets_one_answer_and_the_end(d):
    assert statuses(d.raw(b"GET /nothing HTTP/1.0\r\n\r\n")) == [404]


def test_head_has_no_body(d):
    answer = d.raw(b"HEAD /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.endswith(b"\r\n\r\n") and answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("query", [b"q=%zz", b"q=%", b"q=%ff", b"q=%00", b"q=a&q=b", b"q="])
def test_odd_queries_get_an_answer(d, query):
    answer = d.raw(b"GET /api/search?" + query + b" HTTP/1.1\r\nHost: x\r\nX-Client-Id: " +
                   query.hex().encode() + b"\r\nConnection: close\r\n\r\n")
    assert statuses(answer)[0] in (200, 400, 422), answer
