"""The promises of both requirements with real waiting, on every store at once."""

import time

import pytest

from harness import together


@pytest.fixture
def stores(redis_server, valkey_server):
    return ["memory://", redis_server.url, valkey_server.url]


def test_a2_after_the_window_as_many_pass_again(demo, stores, http):
    demos = [demo(store=s) for s in stores]

    def burst(d):
        return sorted(together(20, lambda _, go: (go(), http.search(d, "a").status_code)[1]))

    for d in demos:
        assert burst(d) == [200] * 5 + [429] * 15
    time.sleep(61)
    for d in demos:
        assert burst(d) == [200] * 5 + [429] * 15


def test_a3_a_client_that_waits_as_told_is_admitted(demo, stores, http):
    demos = [demo(store=s) for s in stores]
    for d in demos:
        assert http.statuses(d, 5, "a") == [200] * 5
    free_at = [time.monotonic() + int(http.search(d, "a").headers["retry-after-ms"]) / 1000 for d in demos]
    for d, moment in zip(demos, free_at):
        time.sleep(max(0, moment - time.monotonic()))
        assert http.search(d, "a").status_code == 200


def test_b_after_the_window_five_pass_again(demo, stores, http):
    demos = [demo("--algorithm", "fixed_window", store=s) for s in stores]
    for d in demos:
        assert http.statuses(d, 6, "a") == [200] * 5 + [429]
    time.sleep(60.1)
    for d in demos:
        assert http.statuses(d, 6, "a") == [200] * 5 + [429]
