"""Several processes on one store, and a store that comes and goes."""

import os

from harness import SANITIZED, together


def test_r17_two_replicas_admit_exactly_the_limit_together(demo, server, http):
    one, two = demo(store=server.url), demo(store=server.url)
    answers = together(20, lambda i, go: (go(), http.search((one, two)[i % 2], "a").status_code)[1])
    assert sorted(answers) == [200] * 5 + [429] * 15


def test_r17_replicas_whose_clocks_differ_agree(demo, server, http):
    env = {}
    if not SANITIZED:  # a preloaded library comes before the sanitizer's own
        env = {"LD_PRELOAD": os.environ["BRIM_SKEWED_CLOCK"], "SKEW_SECONDS": "5"}
    right, ahead = demo(store=server.url), demo(store=server.url, env=env)
    statuses = [http.search((right, ahead)[i % 2], "a").status_code for i in range(6)]
    assert statuses == [200] * 5 + [429]
    waits = [int(http.search(d, "a").headers["retry-after-ms"]) for d in (right, ahead)]
    assert abs(waits[0] - waits[1]) < 2_000, "both tell the same time"
    scores = [score for _, score in server.client.zrange("ratelimit:a:search:60", 0, -1, withscores=True)]
    assert max(scores) - min(scores) < 4_000, "the store's clock alone is in the log"


def test_a_restarted_replica_finds_the_counts(demo, server, http):
    first = demo(store=server.url)
    assert http.statuses(first, 3, "a") == [200] * 3
    second = demo(store=server.url)
    assert http.statuses(second, 3, "a") == [200] * 2 + [429]


def test_brim_starts_and_limits_without_its_store(demo, http):
    d = demo(store="redis://127.0.0.1:1/0", store_timeout_ms=50)
    statuses = http.statuses(d, 6, "a")
    assert statuses == [200] * 5 + [429], "the embedded store decides until the other one is there"
